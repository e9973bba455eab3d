// SPDX-License-Identifier: BSD-3-Clause
#include "report/report.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/parts.hpp"
#include "report/units.hpp"

namespace entrain::report {
namespace {

/// Upper limits of the bins of IntervalChange; the last bin has none.
constexpr std::array<double, 6> k_bin_limits{0, 1e-4, 1e-3, 1e-2, 0.1, 1};

template <class Array>
std::uint64_t sum_of(const Array& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

const char* mode_text(const CorrectReport& report) {
  return report.mode ? name_of(*report.mode) : "planned";
}

std::uint64_t links_of(const CorrectReport& report, LinkKind kind) {
  return static_cast<std::uint64_t>(report.links[static_cast<std::size_t>(kind)]);
}

std::string output_text(const CorrectReport& report) {
  const std::string links = text_of(report.links);
  if (links.empty()) return fmt::format("{} ({})", report.output, mode_text(report));
  return fmt::format("{} (overlay, event files linked: {})", report.output, links);
}

/// Shows how far events moved. Only for a verified archive: the verification measures it.
std::string change_text(const CorrectReport& report, const Style& style) {
  const CorrectionStatistics& statistics = report.statistics;
  const std::uint64_t hz = report.before.resolution_hz;
  FieldList fields;
  const MuTicks& mu = report.before.mu_ticks;
  if (std::ranges::any_of(mu, [](auto ticks) { return ticks > 0; }))
    fields.field("below latency", fmt::format("{} -> {} edges closer than mu",
                                              format_count(report.before.below_latency),
                                              format_count(report.after.below_latency)));
  if (report.before.equal > 0 || report.after.equal > 0)
    fields.field("equal times",
                 fmt::format("{} -> {} edges whose ends have the same time",
                             format_count(report.before.equal), format_count(report.after.equal)));
  fields.field(
      "moved",
      fmt::format("{} of {} times of communication ({})", format_count(statistics.moved_events),
                  format_count(statistics.compared_events),
                  format_share(share_of(statistics.moved_events, statistics.compared_events))));
  fields.field(
      "displacement",
      fmt::format("mean {}, 99th percentile {}, largest {} (of the events that moved)",
                  format_ticks(statistics.mean_ticks, hz), format_ticks(statistics.p99_ticks, hz),
                  format_ticks(statistics.max_ticks, hz)));
  if (const auto& delta = report.measured_delta_ticks)
    fields.field("delta", fmt::format("{} kept between neighbours, the step of each timer",
                                      (*delta)[0] == (*delta)[1]
                                          ? format_ticks((*delta)[0], hz)
                                          : fmt::format("{} to {}", format_ticks((*delta)[0], hz),
                                                        format_ticks((*delta)[1], hz))));
  fields.field("largest slope", fmt::format("{:.4g} ticks per tick", statistics.max_slope));
  if (statistics.moved_backward > 0)
    fields.field("moved back",
                 format_number_of(statistics.moved_backward, "event is", "events are") +
                     " earlier than before by more than a tick",
                 Tone::bad);
  if (statistics.order_broken > 0)
    fields.field(
        "order broken",
        format_number_of(statistics.order_broken, "pair") + " of local events changed order",
        Tone::bad);
  return fields.text(style);
}

Table interval_table(const CorrectReport& report) {
  static constexpr std::array<const char*, 7> k_labels{"unchanged",  "up to 0.01 %", "up to 0.1 %",
                                                       "up to 1 %",  "up to 10 %",   "up to 100 %",
                                                       "above 100 %"};
  const IntervalChange& change = report.statistics.intervals;
  const std::uint64_t intervals = sum_of(change.histogram);
  const std::uint64_t ticks = sum_of(change.histogram_ticks);
  Table table{{"change of local intervals", Align::left},
              {"intervals"},
              {"share"},
              {"their time"},
              {"share"}};
  for (std::size_t i = 0; i < k_labels.size(); ++i)
    table.row({k_labels[i], format_count(change.histogram[i]),
               format_share(share_of(change.histogram[i], intervals)),
               format_duration(seconds_of(change.histogram_ticks[i], report.before.resolution_hz)),
               format_share(share_of(change.histogram_ticks[i], ticks))});
  return table;
}

/// Says how many clocks have the gamma of a pass; "" if all have.
std::string of_clocks(const AmortizationPass& pass) {
  if (pass.clocks == 0) return "";
  return fmt::format(" of {}", format_number_of(pass.clocks, "clock"));
}

/// Names the clocks with smaller gammas than the others; "" if there are none.
std::string gammas_text(const CorrectReport& report, const Style& style) {
  constexpr std::size_t k_shown = 8;
  const std::vector<ClockGamma>& clocks = report.clock_gammas;
  if (clocks.empty() || !report.epsilon_ticks) return "";
  std::string text = fmt::format("Smaller gammas, since these moved by more than {}: ",
                                 format_ticks(*report.epsilon_ticks, report.before.resolution_hz));
  const std::size_t shown = style.verbose ? clocks.size() : std::min(clocks.size(), k_shown);
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("{}{} ({:.9g})", i == 0 ? "" : ", ", clocks[i].process, clocks[i].gamma);
  }
  if (shown < clocks.size()) text += fmt::format(" and {} more", clocks.size() - shown);
  return paragraph(text + ".", style);
}

Table pass_table(const CorrectReport& report) {
  Table table{{"pass"}, {"gamma"}, {"largest displacement e"}, {"jumps"}, {"", Align::left}};
  for (std::size_t i = 0; i < report.passes.size(); ++i) {
    const AmortizationPass& pass = report.passes[i];
    table.row(
        {fmt::format("{}", i + 1), fmt::format("{:.9g}", pass.gamma) + of_clocks(pass),
         format_ticks(pass.error_ticks, report.before.resolution_hz), format_count(pass.violations),
         pass.chosen
             ? Cell("taken: e is " + format_share(report.error_share) + " of the trace's span",
                    Tone::good)
             : Cell("")});
  }
  return table;
}

std::string phases_text(const CorrectReport& report) {
  const PhaseSeconds& phases = report.run.phases;
  return fmt::format(
             "scan {}, match {}, presync {}, forward {}, backward {}, write {}, verify {}; memory "
             "{}",
             format_duration(phases.scan), format_duration(phases.match),
             format_duration(phases.presync), format_duration(phases.forward),
             format_duration(phases.backward), format_duration(phases.write),
             format_duration(phases.verify), format_bytes(report.run.peak_memory_bytes)) +
         (report.bounds ? fmt::format(", bounds {}", format_duration(phases.bounds)) : "") +
         (report.run.spilled_bytes > 0
              ? fmt::format(", in files instead {}", format_bytes(report.run.spilled_bytes))
              : "");
}

/// Says which files of the original an overlay still needs; "" for a rewrite.
std::string keep_text(const CorrectReport& report) {
  if (report.mode != WriteMode::overlay) return "";
  std::string text;
  if (links_of(report, LinkKind::symbolic) > 0) {
    text = fmt::format(
        "The event files of {} must stay where they are, unchanged: the new archive points to "
        "them. Move or copy both archives together.",
        report.before.archive);
  }
  if (links_of(report, LinkKind::hard) > 0) {
    text += fmt::format(
        "{}The event files of {} are the same files as those of the new archive: it may be "
        "deleted, but nothing may write to it.",
        text.empty() ? "" : " Where links are hard: ", report.before.archive);
  }
  if (!text.empty()) return text;
  return fmt::format("The new archive needs nothing of {} any more.", report.before.archive);
}

std::string left_out_text(const CorrectReport& report, const Style& style) {
  FieldList fields;
  add_coverage(fields, report.before);
  add_counters(fields, "unmatched", report.before.unmatched, style);
  add_counters(fields, "skipped", report.before.skipped, style);
  add_counters(fields, "cyclic", report.cycles, style);
  return fields.field("took", phases_text(report)).text(style);
}

/// How it was corrected, in all detail.
std::string method_text(const CorrectReport& report, const Style& style) {
  FieldList about;
  about.field("archive", report.before.archive);
  add_leftovers(about, report.run.leftovers_removed);
  about.field("trace", trace_text(report.before))
      .field("presync", presync_text(report.before))
      .field("mu", mu_text(report.before));
  add_completeness(about, report.before.completeness);
  add_warnings(about, report.before, style);
  add_timeline(about, report.before, report.timeline);
  std::string text = about.text(style);
  text += worst_edges("Worst edge of each kind, before", report.before, style);
  if (report.verified) text += worst_edges("Worst edge of each kind, after", report.after, style);
  text += quality_text(report.before, style);
  if (report.verified) {
    text += "\n" + change_text(report, style);
    text += "\n" + interval_table(report).text(style);
    text += fmt::format("largest change {}\n", format_share(report.statistics.intervals.max_share));
  }
  if (!report.passes.empty()) {
    text += "\n" + pass_table(report).text(style) + gammas_text(report, style);
  }
  return text + "\n" + left_out_text(report, style);
}

/// Why there are more or fewer edges after than before; "" if there are as many.
std::string recount_text(const CorrectReport& report, const Style& style) {
  const std::uint64_t before = report.before.checked_edges, after = report.after.checked_edges;
  if (!report.verified || before == after) return "";
  return paragraph(
      fmt::format("By the corrected times {} can be told, {} by the times as measured: which ends "
                  "are evidence depends on the clocks.",
                  format_number_of(after, "edge"), format_count(before)),
      style);
}

/// Changes, the place of the result, and how to go on.
std::string outcome_text(const CorrectReport& report, const Style& style) {
  const CorrectionStatistics& statistics = report.statistics;
  std::string text;
  if (report.verified && statistics.moved_events > 0) {
    text +=
        fmt::format("Moved {} of {} times of communication, by {} at most. ",
                    format_count(statistics.moved_events), format_count(statistics.compared_events),
                    format_ticks(statistics.max_ticks, report.before.resolution_hz));
  }
  if (report.mode) text += "Written: " + output_text(report) + ". ";
  if (const std::string keep = keep_text(report); !keep.empty()) text += keep + " ";
  text = text.empty() ? "" : paragraph(text, style);
  if (report.mode && report.output.ends_with(".otf2")) {
    text += paragraph(
        fmt::format("Go on as with any archive: vampir, scout.mpi or otf2-print {}", report.output),
        style);
  } else if (report.mode) {
    text += paragraph("Go on with it as with the original: its files have the same names.", style);
  }
  return text;
}

/// Span of the trace in ticks, from the error share of the chosen pass.
std::optional<double> span_ticks(const CorrectReport& report) {
  for (const AmortizationPass& pass : report.passes) {
    if (pass.chosen && pass.error_ticks > 0 && report.error_share > 0)
      return static_cast<double>(pass.error_ticks) / report.error_share;
  }
  return std::nullopt;
}

Json passes_json(const CorrectReport& report) {
  const std::optional<double> span = span_ticks(report);
  return array_of(report.passes, [&](const AmortizationPass& pass) -> Json {
    Json error = nullptr;
    if (pass.error_ticks == 0) {
      error = 0.0;
    } else if (span) {
      error = number(static_cast<double>(pass.error_ticks) / *span);
    }
    return {{"gamma", number(pass.gamma)},
            {"error", std::move(error)},
            {"max_displacement_s", seconds(pass.error_ticks, report.before.resolution_hz)},
            {"violations", pass.violations},
            {"clocks", pass.clocks == 0 ? Json(nullptr) : Json(pass.clocks)},
            {"chosen", pass.chosen}};
  });
}

Json clock_gammas_json(const CorrectReport& report) {
  return array_of(report.clock_gammas, [&](const ClockGamma& clock) -> Json {
    return {{"location", clock.location},
            {"process", clock.process},
            {"gamma", number(clock.gamma)},
            {"max_displacement_s", seconds(clock.error_ticks, report.before.resolution_hz)}};
  });
}

Json intervals_json(const CorrectReport& report) {
  const IntervalChange& change = report.statistics.intervals;
  Json histogram = Json::array();
  for (std::size_t i = 0; i < change.histogram.size(); ++i) {
    const double time_s = seconds_of(change.histogram_ticks[i], report.before.resolution_hz);
    histogram.push_back(
        {{"up_to_share", i < k_bin_limits.size() ? Json(k_bin_limits[i]) : Json(nullptr)},
         {"intervals", change.histogram[i]},
         {"time_s", number(time_s)}});
  }
  return {{"histogram", std::move(histogram)}, {"max_share", number(change.max_share)}};
}

Json displacement_json(const CorrectReport& report) {
  const CorrectionStatistics& statistics = report.statistics;
  const std::uint64_t hz = report.before.resolution_hz;
  return {{"mean", number(seconds_of(statistics.mean_ticks, report.before.resolution_hz))},
          {"p99", seconds(statistics.p99_ticks, hz)},
          {"max", seconds(statistics.max_ticks, hz)}};
}

Json phases_json(const CorrectReport& report) {
  const PhaseSeconds& phases = report.run.phases;
  Json json = {{"scan", number(phases.scan)},         {"match", number(phases.match)},
               {"presync", number(phases.presync)},   {"forward", number(phases.forward)},
               {"backward", number(phases.backward)}, {"write", number(phases.write)},
               {"verify", number(phases.verify)}};
  if (report.bounds) json["bounds"] = number(phases.bounds);
  return json;
}

/// `most`: rows of each list.
std::string report_text(const CorrectReport& report, const Style& style, std::size_t most) {
  const CheckReport& before = report.before;
  return paragraphs(
      {verdict_text(report, style), explanations_text(before, style, most),
       wrong_clocks_text(report.clocks, report.after.violations, most, style),
       worst_violation(before, style),
       edges_text(before, report.verified ? &report.after : nullptr, style) +
           inside_domains_text(before) + recount_text(report, style),
       bounds_text(report.bounds, before.resolution_hz, style),
       style.verbose ? method_text(report, style)
                     : notes_text(before, report.judgement, report.run.leftovers_removed, style),
       outcome_text(report, style)});
}

}  // namespace

std::string to_text(const CorrectReport& report, const Style& style) {
  if (style.brief) return verdict_text(report, style);
  return on_a_screen(style, [&](std::size_t most) { return report_text(report, style, most); });
}

Json to_json(const CorrectReport& report) {
  const CorrectionStatistics& statistics = report.statistics;
  const auto measured = [&](Json value) { return report.verified ? std::move(value) : Json(); };
  const std::string links = text_of(report.links);
  Json json = {{"schema", "entrain.correct/1"},
               {"output", report.output},
               {"timeline", timeline_json(report.before, report.timeline)},
               {"clocks", clocks_json(report.clocks)},
               {"explanations", explanations_json(report.before)},
               {"before", nullptr},
               {"after", nullptr},
               {"verified", report.verified},
               {"coverage", measured(coverage_json(report.after.coverage))},
               {"mode", mode_text(report)},
               {"link", text_or_null(links)},
               {"gamma", report.gamma > 0 ? number(report.gamma) : Json(nullptr)},
               {"epsilon_s", seconds(report.epsilon_ticks, report.before.resolution_hz)},
               {"clock_gammas", clock_gammas_json(report)},
               {"measured_delta_ticks",
                report.measured_delta_ticks ? Json(*report.measured_delta_ticks) : Json(nullptr)},
               {"error_share", number(report.error_share)},
               {"passes", passes_json(report)},
               {"cycles", counters(report.cycles)},
               {"moved_events", measured(statistics.moved_events)},
               {"compared_events", measured(statistics.compared_events)},
               {"displacement_s", measured(displacement_json(report))},
               {"interval_change", measured(intervals_json(report))},
               {"max_slope", measured(number(statistics.max_slope))},
               {"moved_backward", measured(statistics.moved_backward)},
               {"order_broken", measured(statistics.order_broken)},
               {"phases_s", phases_json(report)},
               {"peak_memory_bytes", report.run.peak_memory_bytes}};
  add_verdict(json, report.judgement);
  add_leftovers(json, report.run.leftovers_removed);
  if (report.run.spilled_bytes > 0) json["spilled_bytes"] = report.run.spilled_bytes;
  if (report.bounds) json["bounds"] = bounds_json(*report.bounds, report.before.resolution_hz);
  // Large members last: an object that grows copies what it holds.
  json["before"] = to_json(report.before);
  if (report.verified) json["after"] = to_json(report.after);
  return json;
}

}  // namespace entrain::report
