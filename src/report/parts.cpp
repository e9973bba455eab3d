// SPDX-License-Identifier: BSD-3-Clause
#include "report/parts.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "report/units.hpp"

namespace entrain::report {
namespace {

void add_end(Table& table, const std::string& kind, const std::string& margin, const char* name,
             const EdgeEnd& end, std::uint64_t resolution_hz) {
  table.row({kind, margin, name, format_time(end.ticks, resolution_hz),
             fmt::format("{}", end.location), end.clock, end.region});
}

/// The line below a table that explains the parentheses.
constexpr const char* k_uncounted =
    "(init_finalize) is not counted: MPI does not promise it; --init-finalize on does\n";

/// Name of a kind as tables show it: in parentheses if it is not counted.
std::string kind_text(const CheckReport& report, EdgeKind kind, bool counted) {
  if (kind == EdgeKind::p2p) return std::string(report.words.single);
  return counted ? name_of(kind) : fmt::format("({})", name_of(kind));
}

/// False for the kind that is reported but not part of the totals (init_finalize, if not asked
/// for) and has something to report.
bool is_counted(const CheckReport& report, EdgeKind kind) {
  if (kind != EdgeKind::init_finalize) return true;
  std::uint64_t violations = 0, below_latency = 0;
  for (const EdgeStatistics& statistics : report.edges) {
    violations += statistics.violations;
    below_latency += statistics.below_latency;
  }
  return violations == report.violations && below_latency == report.below_latency;
}

std::string margin_text(const EdgeStatistics& statistics, std::uint64_t resolution_hz) {
  return statistics.worst ? format_ticks(statistics.worst->margin_ticks, resolution_hz) : "";
}

}  // namespace

std::string section(const char* heading, const std::string& body, const Style& style) {
  return body.empty() ? "" : "\n" + toned(heading, Tone::heading, style) + "\n" + body;
}

std::string trace_text(const CheckReport& report) {
  return fmt::format(
      "{}, {} ({} of communication), timer {}", format_number_of(report.locations, "location"),
      format_number_of(report.events, "event"), format_count(report.communication_events),
      format_frequency(report.resolution_hz));
}

std::string presync_text(const CheckReport& report) {
  std::string text = name_of(report.presync);
  if (report.presync == PresyncMethod::none) text = "none: time stamps as stored";
  if (report.presync == PresyncMethod::linear) {
    const std::string from = text_of(report.estimation.sessions);
    text = "linear: through the " + (from.empty() ? "ClockOffset records" : from);
  }
  if (report.presync == PresyncMethod::causal) text = "causal: bent by messages and collectives";
  const bool curve = report.presync == PresyncMethod::spline;
  if (report.presync == PresyncMethod::regression || curve) {
    const auto& clocks = report.estimation.clocks;
    const bool once =
        !clocks.empty() && std::ranges::all_of(clocks, [](auto& c) { return c.sessions == 1; });
    text += fmt::format(": {} ({})",
                        once    ? "the constant offset of the only session"
                        : curve ? "a smooth curve through sessions"
                                : "a line along sessions",
                        text_of(report.estimation.sessions));
  }
  if (!report.estimation.reason.empty()) {
    text += report.presync == PresyncMethod::causal ? "; " : "; chosen since ";
    text += report.estimation.reason;
  }
  return text;
}

std::string quality_text(const CheckReport& report, const Style& style) {
  if (report.estimation.clocks.empty()) return "";
  const auto time = [&](double ticks) { return format_ticks(ticks, report.resolution_hz); };
  const auto bound = [&](const std::optional<double>& ticks) {
    return ticks ? time(*ticks) : std::string("unknown");
  };
  Table table{{"location"}, {"sessions"}, {"rate"},  {"residual"},  {"max"},
              {"left out"}, {"max"},      {"bound"}, {"in between"}};
  for (const ClockQuality& clock : report.estimation.clocks) {
    std::string sessions = format_count(clock.sessions);
    if (clock.disturbed > 0) {
      sessions = fmt::format("{} of {}", format_count(clock.sessions - clock.disturbed), sessions);
    }
    const bool rated = clock.sessions >= 2;
    table.row({fmt::format("{}", clock.location), sessions,
               rated ? fmt::format("{:+.3f} ppm", clock.slope_ppm) : std::string("unknown"),
               time(clock.residual_rms_ticks), time(clock.residual_max_ticks),
               time(clock.left_out_rms_ticks), time(clock.left_out_max_ticks),
               bound(clock.interval_bound_ticks), bound(clock.predicted_bound_ticks)});
  }
  return section("Sessions of clocks", table.text(style), style);
}

void add_leftovers(FieldList& fields, std::uint64_t removed) {
  if (removed == 0) return;
  fields.field("removed", format_number_of(removed, "unfinished folder") +
                              " of killed runs, beside the new one");
}

void add_leftovers(Json& json, std::uint64_t removed) {
  if (removed > 0) json["leftovers_removed"] = removed;
}

void add_warnings(FieldList& fields, const CheckReport& report, const Style& style) {
  for (const std::string& guess : report.guesses) fields.field("guessed", guess);
  const std::vector<std::string>& all = report.estimation.warnings;
  const std::size_t shown = style.verbose ? all.size() : std::min<std::size_t>(all.size(), 1);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t more = i + 1 == shown ? all.size() - shown : 0;
    fields.field("warning", more == 0 ? all[i] : fmt::format("{} ({} more with -v)", all[i], more));
  }
}

std::string on_a_screen(const Style& style, const std::function<std::string(std::size_t)>& make) {
  constexpr std::size_t k_most_rows = 4;
  constexpr std::ptrdiff_t k_lines = 25;
  if (style.verbose) return make(~std::size_t{0});
  for (std::size_t rows = k_most_rows; rows > 0; --rows) {
    std::string text = make(rows);
    if (std::ranges::count(text, '\n') <= k_lines) return text;
  }
  return make(k_most_rows);
}

std::string paragraphs(std::initializer_list<std::string> texts) {
  std::string all;
  for (const std::string& text : texts) {
    if (!text.empty()) all += (all.empty() ? "" : "\n") + text;
  }
  return all;
}

std::string exchange_text(const CheckReport& report) {
  const auto found =
      std::ranges::find(report.explanations, ExplanationKind::exchanged, &ClockExplanation::kind);
  return found == report.explanations.end() ? "" : found->text;
}

std::string explanations_text(const CheckReport& report, const Style& style, std::size_t most) {
  if (!exchange_text(report).empty()) return "";  // the verdict tells it
  const auto& all = report.explanations;
  const std::size_t shown = std::min(all.size(), most);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i)
    text += paragraph("Explained: " + all[i].text + ".", style);
  if (shown < all.size()) {
    text += fmt::format("Explained: {} with -v.\n",
                        format_number_of(all.size() - shown, "more reason"));
  }
  return text;
}

Json explanations_json(const CheckReport& report) {
  const std::uint64_t hz = report.resolution_hz;
  return array_of(report.explanations, [&](const ClockExplanation& one) -> Json {
    return {{"kind", name_of(one.kind)},
            {"clocks", one.clocks},
            {"time_s", seconds(one.time_ticks, hz)},
            {"size_s", seconds(one.size_ticks, hz)},
            {"evidence", one.evidence},
            {"price_bits", number(one.bits)},
            {"text", one.text}};
  });
}

std::string paragraph(const std::string& text, const Style& style, Tone tone) {
  std::string lines;
  for (const std::string& line : wrapped(printable(text), style.columns)) {
    lines += toned(line, tone, style) + "\n";
  }
  return lines;
}

std::string short_name(const std::string& name) {
  constexpr std::size_t k_columns = 40;
  return shortened(printable(name), k_columns);
}

std::string worst_violation(const CheckReport& report, const Style& style) {
  const EdgeStatistics* worst = nullptr;
  for (const EdgeStatistics& edges : report.edges) {
    if (edges.violations == 0 || !edges.worst) continue;
    if (!worst || edges.worst->margin_ticks < worst->worst->margin_ticks) worst = &edges;
  }
  if (worst == nullptr) return "";
  const auto end = [&](const EdgeEnd& one) {
    return fmt::format("{}{}{} at {}", short_name(one.clock), one.region.empty() ? "" : " in ",
                       one.region, format_time(one.ticks, report.resolution_hz));
  };
  const WorstEdge& edge = *worst->worst;
  return paragraph(
      fmt::format("Worst: {} comes {} before its cause, {}.", end(edge.receive),
                  format_ticks(-edge.margin_ticks, report.resolution_hz), end(edge.send)),
      style);
}

std::string inside_domains_text(const CheckReport& report) {
  if (!report.inside_domains || report.inside_domains->count == 0) return "";
  return fmt::format("Of these, {} join locations of one clock, which no correction changes: {}.\n",
                     format_number_of(report.inside_domains->count, "edge"),
                     format_number_of(report.inside_domains->violations, "violation"));
}

std::string mu_text(const CheckReport& report) {
  const std::string source = text_of(report.mu_source);
  if (std::ranges::all_of(report.mu_ticks, [](auto mu) { return mu == 0; }))
    return fmt::format("0 s; source: {}", source);
  std::string text;
  for (std::size_t i = 0; i < k_latency_classes; ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", name_of(static_cast<LatencyClass>(i)),
                        format_ticks(report.mu_ticks[i], report.resolution_hz));
  return fmt::format("{}; source: {}", text, source);
}

std::string counters_text(const Counters& counts, const Style& style) {
  std::string text;
  for (const auto& [name, count] : counts) {
    if (count == 0 && !style.verbose) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, format_count(count));
  }
  return text;
}

void add_counters(FieldList& fields, const char* name, const Counters& counts, const Style& style) {
  fields.some(name, counters_text(counts, style));
}

std::string unread_text(const CheckReport& report) {
  std::string text;
  for (const auto& [name, count] : report.skipped) {
    const char* what = name == "missing_event_files"     ? "missing"
                       : name == "truncated_event_files" ? "truncated"
                                                         : nullptr;
    if (what == nullptr || count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                        format_number_of(count, "event file is", "event files are"), what);
  }
  return text;
}

std::string worst_edges(const char* heading, const CheckReport& report, const Style& style) {
  Table table{{"kind", Align::left},  {"margin"},
              {"end", Align::left},   {"time"},
              {"location"},           {"clock", Align::left},
              {"region", Align::left}};
  for (std::size_t i = 0; i < k_edge_kinds; ++i) {
    const EdgeStatistics& statistics = report.edges[i];
    if (!statistics.worst || (statistics.violations == 0 && !style.verbose)) continue;
    const std::uint64_t hz = report.resolution_hz;
    add_end(table, kind_text(report, static_cast<EdgeKind>(i), true), margin_text(statistics, hz),
            "send", statistics.worst->send, hz);
    add_end(table, "", "", "receive", statistics.worst->receive, hz);
  }
  return section(heading, table.text(style), style);
}

void add_timeline(FieldList& fields, const CheckReport& before, const TimelineReport& timeline) {
  if (timeline.presync != before.presync) {
    std::string text = name_of(timeline.presync);
    if (!timeline.reason.empty()) text += ": " + timeline.reason;
    fields.field("clock fit", text);
  } else if (timeline.reason != before.estimation.reason) {
    fields.field("clock fit", timeline.reason);
  }
  if (timeline.shift_max_ticks > 0) {
    fields.field("shift",
                 fmt::format("times of communication by {} on average, by {} at most",
                             format_ticks(timeline.shift_mean_ticks, before.resolution_hz),
                             format_ticks(timeline.shift_max_ticks, before.resolution_hz)));
  }
  if (timeline.clocks < before.locations || !timeline.notes.empty()) {
    std::string text = fmt::format("{} for {}", format_number_of(timeline.clocks, "clock"),
                                   format_number_of(before.locations, "location"));
    for (const std::string& note : timeline.notes) text += "; " + note;
    fields.field("clocks", text);
  }
}

std::string edges_text(const CheckReport& before, const CheckReport* after, const Style& style) {
  Table table{{"kind", Align::left}, {"edges"}};
  const auto column = [&](const char* heading) {
    table.column(heading);
    if (after != nullptr) table.column("").column("after");
  };
  column("violations");
  column("share");
  if (after == nullptr) table.column("below latency");
  column("worst margin");
  bool is_any_uncounted = false;
  for (std::size_t i = 0; i < k_edge_kinds; ++i) {
    const EdgeStatistics& own = before.edges[i];
    const EdgeStatistics& now = after != nullptr ? after->edges[i] : own;
    const auto kind = static_cast<EdgeKind>(i);
    // The same options mean the same edges: a kind that is not counted before is not counted after.
    const bool counted = is_counted(before, kind) && (after == nullptr || is_counted(*after, kind));
    is_any_uncounted = is_any_uncounted || !counted;
    if (!style.verbose && (!counted || (own.count == 0 && now.count == 0))) continue;
    const Tone tone = !counted             ? Tone::plain
                      : now.violations > 0 ? Tone::bad
                      : own.violations > 0 ? Tone::good
                                           : Tone::plain;
    std::vector<Cell> cells{kind_text(before, kind, counted), format_count(own.count)};
    const auto add = [&](auto text_of, Tone shown = Tone::plain) {
      cells.emplace_back(text_of(own), after != nullptr ? Tone::plain : shown);
      if (after == nullptr) return;
      cells.emplace_back("->", Tone::faint);
      cells.emplace_back(text_of(now), shown);
    };
    add([](const EdgeStatistics& edges) { return format_count(edges.violations); }, tone);
    add([](const auto& edges) { return format_share(share_of(edges.violations, edges.count)); },
        tone);
    if (after == nullptr) cells.emplace_back(format_count(own.below_latency));
    add([&](const EdgeStatistics& edges) { return margin_text(edges, before.resolution_hz); });
    table.row(std::move(cells));
  }
  return table.text(style) + (style.verbose && is_any_uncounted ? k_uncounted : "");
}

Json timeline_json(const CheckReport& before, const TimelineReport& timeline) {
  const std::uint64_t hz = before.resolution_hz;
  return {{"presync", name_of(timeline.presync)},
          {"reason", text_or_null(timeline.reason)},
          {"clock_domain", name_of(timeline.clock_domain)},
          {"clocks", timeline.clocks},
          {"notes", timeline.notes},
          {"shift_s",
           {{"mean", number(seconds_of(timeline.shift_mean_ticks, hz))},
            {"max", seconds(timeline.shift_max_ticks, hz)}}}};
}

}  // namespace entrain::report
