// SPDX-License-Identifier: BSD-3-Clause
#include "report/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/parts.hpp"
#include "report/units.hpp"

namespace entrain::report {
namespace {

/// `still`: the maps have been applied.
std::string verdict_of(const CheckReport& counts, bool still) {
  const char* const by = still ? "these clock maps" : "the clocks as measured";
  const std::string edges = format_number_of(counts.checked_edges, "edge");
  switch (counts.judgement.verdict) {
    case Verdict::violations:
      return fmt::format("Violations: {} of {} {}{} too early by {}.",
                         format_count(counts.violations), edges, still ? "still " : "",
                         counts.violations == 1 ? "comes" : "come", by);
    case Verdict::clean:
      return fmt::format("Clean: by {} none of {} is violated.", by, edges);
    case Verdict::unproven:
      break;
  }
  if (const std::string text = exchange_text(counts); !text.empty()) {
    return "Unproven: " + text + ".";
  }
  if (counts.judgement.doubt == Doubt::contradictory_edges && counts.violations > 0) {
    return fmt::format(
        "Unproven: {} of {} are violated, and no clocks meet most of them: they contradict each "
        "other, so that the clocks stay.",
        format_count(counts.violations), edges);
  }
  if (counts.judgement.doubt == Doubt::contradictory_edges) {
    return fmt::format(
        "Unproven: {} the others whatever clocks do; by {} none of {} is violated.",
        format_number_of(count_of(counts.skipped, "contradicting_pairs"),
                         "pair of records contradicts", "pairs of records contradict"),
        by, edges);
  }
  if (counts.checked_edges > 0 || counts.judgement.doubt == Doubt::set_aside) {
    return "Unproven: " + unproven_text(counts, counts.judgement.doubt, 0) + ".";
  }
  return "Unproven: there is no edge from one clock to another, so nothing could be checked.";
}

Tone verdict_tone(Verdict verdict) {
  return verdict == Verdict::violations ? Tone::bad
         : verdict == Verdict::clean    ? Tone::good
                                        : Tone::plain;
}

/// Remarks; with a verbose style also how it was done.
std::string about_text(const AlignReport& report, const Style& style) {
  const CheckReport& before = report.before;
  FieldList about;
  about.field("edges", before.archive);
  if (!report.output.empty()) {
    const bool is_folder = report.output.find(".csv") == std::string::npos;
    // The maps need not keep the clock that the table of clocks refers to.
    const bool none_stays = report.clocks.reference.empty() && !report.clocks.rows.empty();
    const std::string maps =
        fmt::format(": maps.csv has what to add to each clock{}",
                    none_stays ? ", for a common time that none of them shows" : "");
    about.field("written", report.output + (is_folder ? maps : ""));
  }
  for (const std::string& note : report.notes) about.field("note", note);
  add_warnings(about, before, style);
  add_counters(about, "left out", report.left_out, style);
  if (!style.verbose) return about.text(style);
  about
      .field("clocks",
             fmt::format("{}, {} with edges, timer {}", format_number_of(before.locations, "clock"),
                         format_number_of(before.events, "stamp"),
                         format_frequency(before.resolution_hz)))
      .field("presync", presync_text(before))
      .field("mu", mu_text(before));
  add_timeline(about, before, report.timeline);
  return about.text(style) + worst_edges("Worst edge of each kind, before", before, style) +
         worst_edges("Worst edge of each kind, after", report.after, style) +
         quality_text(before, style);
}

/// What to do next; "" where all is done.
std::string go_on_text(const AlignReport& report, const Style& style) {
  if (report.contradicts_itself) {
    return paragraph(
        "Nothing is written, as no clocks were found. Go on: look at whether causes and effects "
        "are "
        "in the right columns (--columns), times in one unit (--unit), and each row joins two "
        "events "
        "that belong together.",
        style);
  }
  if (!report.output.empty()) return "";
  const char* const sure = report.bounds ? "" : "; --bounds proves how certain they are";
  return paragraph(fmt::format("Go on: -o DIR writes the maps, --apply FILE maps the times of a "
                               "table{}.",
                               sure),
                   style);
}

/// `most`: rows of each list.
std::string report_text(const AlignReport& report, const Style& style, std::size_t most) {
  const std::string verdict = paragraph(verdict_of(report.after, true), style,
                                        verdict_tone(report.after.judgement.verdict));
  if (style.brief) return verdict;
  const CheckReport& before = report.before;
  return paragraphs({verdict, explanations_text(before, style, most),
                     wrong_clocks_text(report.clocks, report.after.violations, most, style),
                     worst_violation(before, style),
                     edges_text(before, &report.after, style) + inside_domains_text(before),
                     bounds_text(report.bounds, before.resolution_hz, style),
                     about_text(report, style), go_on_text(report, style)});
}

}  // namespace

std::string verdict_text(const AlignReport& report) { return verdict_of(report.after, true); }

std::string stored_verdict_text(const AlignReport& report) {
  return verdict_of(report.before, false);
}

std::string to_text(const AlignReport& report, const Style& style) {
  return on_a_screen(style, [&](std::size_t most) { return report_text(report, style, most); });
}

Json to_json(const AlignReport& report) {
  Json json = {{"schema", "entrain.align/1"},
               {"output", text_or_null(report.output)},
               {"timeline", timeline_json(report.before, report.timeline)},
               {"clocks", clocks_json(report.clocks)},
               {"explanations", explanations_json(report.before)},
               {"before", to_json(report.before)},
               {"after", to_json(report.after)},
               {"contradicts_itself", report.contradicts_itself},
               {"notes", report.notes},
               {"left_out", counters(report.left_out)}};
  add_verdict(json, report.after.judgement);
  if (report.bounds) json["bounds"] = bounds_json(*report.bounds, report.before.resolution_hz);
  return json;
}

}  // namespace entrain::report
