// SPDX-License-Identifier: BSD-3-Clause
#include "report/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/clock_report.hpp"
#include "report/parts.hpp"
#include "report/units.hpp"
#include "report/verdict_report.hpp"

namespace entrain::report {
namespace {

/// `still`: the maps have been applied.
std::string verdict_of(const CheckReport& counts, bool still) {
  const char* const by = still ? "these clock maps" : "the clocks as measured";
  const std::string edges = format_number_of(counts.checked_edges, "edge", "edges");
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
    about.field("written",
                report.output + (is_folder ? ": maps.csv has what to add to each clock" : ""));
  }
  for (const std::string& note : report.notes) about.field("note", note);
  add_warnings(about, before, style);
  add_counters(about, "left out", report.left_out, style);
  if (!style.verbose) return about.text(style);
  about
      .field("clocks", fmt::format("{}, {} with edges, timer {}",
                                   format_number_of(before.locations, "clock", "clocks"),
                                   format_number_of(before.events, "stamp", "stamps"),
                                   format_frequency(before.resolution_hz)))
      .field("presync", presync_text(before))
      .field("mu", mu_text(before));
  add_timeline(about, before, report.timeline);
  return about.text(style) + worst_edges("Worst edge of each kind, before", before, style) +
         worst_edges("Worst edge of each kind, after", report.after, style) +
         quality_text(before, style);
}

/// `most`: rows of each list.
std::string report_text(const AlignReport& report, const Style& style, std::size_t most) {
  const Verdict verdict = report.after.judgement.verdict;
  std::string text = paragraph(verdict_of(report.after, true), style, verdict_tone(verdict));
  if (style.brief) return text;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += "\n" + part;
  };
  const CheckReport& before = report.before;
  add(explanations_text(before, style, most));
  add(wrong_clocks_text(report.clocks, report.after.violations, most, style));
  add(worst_violation(before, style));
  add(edges_text(before, &report.after, style) + inside_domains_text(before));
  if (report.bounds) add(bounds_text(*report.bounds, before.resolution_hz, style));
  add(about_text(report, style));
  if (report.contradicts_itself) {
    add(
        paragraph("Nothing is written, as no clocks were found. Go on: look at whether causes and "
                  "effects are in the right columns (--columns), times in one unit (--unit), and "
                  "each row joins two events that belong together.",
                  style));
  } else if (report.output.empty()) {
    const char* const sure = report.bounds ? "" : "; --bounds proves how certain they are";
    add(paragraph(fmt::format("Go on: -o DIR writes the maps, --apply FILE maps the times of a "
                              "table{}.",
                              sure),
                  style));
  }
  return text;
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

std::string to_text(const EdgesReport& report, const Style& style) {
  FieldList about;
  about.field("archive", report.counts.archive)
      .field("edges",
             fmt::format("{}: {}, {} of {}", report.edges_file,
                         format_number_of(report.edges, "single edge", "single edges"),
                         format_number_of(report.members, "begin or end", "begins and ends"),
                         format_number_of(report.instances, "collective", "collectives")))
      .field("clocks", fmt::format("{}: {}, {}", report.clocks_file,
                                   format_number_of(report.counts.locations, "clock", "clocks"),
                                   format_number_of(report.sessions, "session", "sessions")))
      .field("violations", fmt::format("{} of {} by the clocks as measured",
                                       format_count(report.counts.violations),
                                       format_count(report.counts.checked_edges)));
  const std::string unread = unread_text(report.counts);
  if (!unread.empty()) about.field("not whole", unread + ": what they lack is not written");
  for (const std::string& guess : report.counts.guesses) about.field("guessed", guess);
  return about.text(style);
}

Json to_json(const EdgesReport& report) {
  return {{"schema", "entrain.edges/1"},     {"archive", report.counts.archive},
          {"edges_file", report.edges_file}, {"clocks_file", report.clocks_file},
          {"edges", report.edges},           {"instances", report.instances},
          {"members", report.members},       {"clocks", report.counts.locations},
          {"sessions", report.sessions},     {"counts", to_json(report.counts)}};
}

}  // namespace entrain::report
