// SPDX-License-Identifier: BSD-3-Clause
#include "report/parts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/units.hpp"

namespace entrain::report {
namespace {

void add_end(Table& table, const char* kind, const std::string& margin, const char* name,
             const EdgeEnd& end, std::uint64_t resolution_hz) {
  table.row({kind, margin, name, format_time(end.ticks, resolution_hz),
             fmt::format("{}", end.location), end.process, end.region});
}

}  // namespace

std::string trace_text(const CheckReport& report) {
  return fmt::format("{}, {} ({} of communication), timer {}",
                     format_number_of(report.locations, "location", "locations"),
                     format_number_of(report.events, "event", "events"),
                     format_count(report.communication_events),
                     format_frequency(report.resolution_hz));
}

std::string presync_text(const CheckReport& report) {
  if (report.presync == "none") return "none: time stamps as stored";
  if (report.presync == "linear") return "linear: through the ClockOffset records";
  return report.presync;
}

std::string mu_text(const CheckReport& report) {
  std::string source = report.mu_source.empty() ? "none" : report.mu_source;
  if (std::all_of(report.mu_ticks.begin(), report.mu_ticks.end(), [](auto mu) { return mu == 0; }))
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
  std::string text = counters_text(counts, style);
  if (!text.empty()) fields.field(name, std::move(text));
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

bool is_counted(const CheckReport& report, EdgeKind kind) {
  if (kind != EdgeKind::init_finalize) return true;
  std::uint64_t violations = 0, below_latency = 0;
  for (const EdgeStatistics& statistics : report.edges) {
    violations += statistics.violations;
    below_latency += statistics.below_latency;
  }
  return violations == report.violations && below_latency == report.below_latency;
}

std::string kind_text(EdgeKind kind, bool counted) {
  return counted ? name_of(kind) : fmt::format("({})", name_of(kind));
}

std::string uncounted_text() {
  return "(init_finalize) is not counted: MPI does not promise it; --init-finalize on does\n";
}

std::string margin_text(const EdgeStatistics& statistics, std::uint64_t resolution_hz) {
  return statistics.worst ? format_ticks(statistics.worst->margin_ticks, resolution_hz) : "";
}

double violation_share(const EdgeStatistics& statistics) {
  if (statistics.count == 0) return 0;
  return static_cast<double>(statistics.violations) / static_cast<double>(statistics.count);
}

Table worst_edges(const CheckReport& report, const Style& style) {
  Table table;
  table.column("kind", Align::left)
      .column("margin")
      .column("end", Align::left)
      .column("time")
      .column("location")
      .column("process", Align::left)
      .column("region", Align::left);
  for (std::size_t i = 0; i < k_edge_kinds; ++i) {
    const EdgeStatistics& statistics = report.edges[i];
    if (!statistics.worst || (statistics.violations == 0 && !style.verbose)) continue;
    const std::uint64_t hz = report.resolution_hz;
    add_end(table, name_of(static_cast<EdgeKind>(i)), margin_text(statistics, hz), "send",
            statistics.worst->send, hz);
    add_end(table, "", "", "receive", statistics.worst->receive, hz);
  }
  return table;
}

}  // namespace entrain::report
