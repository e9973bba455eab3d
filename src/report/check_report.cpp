// SPDX-License-Identifier: BSD-3-Clause
#include "report/report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/parts.hpp"
#include "report/units.hpp"

namespace entrain::report {
namespace {

Json end_json(const EdgeEnd& end, std::uint64_t resolution_hz) {
  return {{"location", end.location},
          {"process", end.process},
          {"clock", end.clock},
          {"region", end.region},
          {"time_s", seconds(end.ticks, resolution_hz)},
          {"ticks", end.ticks},
          {"local_ticks", end.local_ticks}};
}

Json edge_json(const EdgeStatistics& edges, std::uint64_t resolution_hz) {
  Json json = {{"count", edges.count},
               {"violations", edges.violations},
               {"below_latency", edges.below_latency},
               {"equal", edges.equal},
               {"worst_s", nullptr},
               {"worst", nullptr}};
  if (edges.worst) {
    json["worst_s"] = seconds(edges.worst->margin_ticks, resolution_hz);
    json["worst"] = {{"send", end_json(edges.worst->send, resolution_hz)},
                     {"receive", end_json(edges.worst->receive, resolution_hz)}};
  }
  return json;
}

/// An array with one object per clock.
Json quality_json(const CheckReport& report) {
  const auto hz = static_cast<double>(std::max<std::uint64_t>(1, report.resolution_hz));
  const auto bound = [&](const std::optional<double>& ticks) {
    return ticks ? number(*ticks / hz) : Json(nullptr);
  };
  Json clocks = Json::array();
  for (const ClockQuality& clock : report.estimation.clocks) {
    Json& row = clocks.emplace_back(Json::object());
    auto& fields = row.get_ref<Json::object_t&>();  // a list of pairs: no name is there twice
    fields.reserve(11);
    fields.emplace_back("location", clock.location);
    fields.emplace_back("sessions", clock.sessions);
    fields.emplace_back("samples", clock.samples);
    fields.emplace_back("disturbed", clock.disturbed);
    fields.emplace_back("slope_ppm", clock.sessions < 2 ? Json(nullptr) : number(clock.slope_ppm));
    fields.emplace_back("residual_rms_s", number(clock.residual_rms_ticks / hz));
    fields.emplace_back("residual_max_s", number(clock.residual_max_ticks / hz));
    fields.emplace_back("left_out_rms_s", number(clock.left_out_rms_ticks / hz));
    fields.emplace_back("left_out_max_s", number(clock.left_out_max_ticks / hz));
    fields.emplace_back("interval_bound_s", bound(clock.interval_bound_ticks));
    fields.emplace_back("predicted_bound_s", bound(clock.predicted_bound_ticks));
  }
  return clocks;
}

Json inside_domains_json(const CheckReport& report) {
  if (!report.inside_domains) return nullptr;
  return {{"count", report.inside_domains->count},
          {"violations", report.inside_domains->violations}};
}

Json set_aside_json(const CheckReport& report) {
  return array_of(report.set_aside, [](const SetAside& one) -> Json {
    return {{"kind", one.kind},
            {"clock", one.clock},
            {"records", one.records},
            {"total", one.total},
            {"is_decisive", one.is_decisive},
            {"reason", one.reason}};
  });
}

/// Says at how many edges cause and effect have one time; "" if at none.
std::string equal_text(const CheckReport& report) {
  if (report.equal == 0) return "";
  return fmt::format(
      "At {} cause and effect have the same time: no violation, but no order either.\n",
      format_number_of(report.equal, "edge"));
}

/// Whose clock it is, if that was worked out.
std::string whose_clocks(const CheckReport& report, const Style& style, std::size_t most) {
  if (report.judgement.verdict == Verdict::unproven || report.checked_edges == 0) return "";
  return wrong_clocks_text(report.clocks, 0, most, style);
}

/// How it was checked, and all that was left out.
std::string method_text(const CheckReport& report, const Style& style) {
  FieldList about;
  about.field("archive", report.archive)
      .field("trace", trace_text(report))
      .field("presync", presync_text(report))
      .field("mu", mu_text(report));
  add_completeness(about, report.completeness);
  add_warnings(about, report, style);
  add_coverage(about, report);
  add_counters(about, "unmatched", report.unmatched, style);
  add_counters(about, "skipped", report.skipped, style);
  return about.text(style) + worst_edges("Worst edge of each kind", report, style) +
         quality_text(report, style);
}

/// `most`: rows of each list.
std::string report_text(const CheckReport& report, const Style& style, std::size_t most) {
  const std::string edges = edges_text(report, nullptr, style);
  const char* const go_on =
      "Go on: entrain clocks shows each clock and how certain that is; entrain correct repairs the "
      "times.";
  return paragraphs(
      {verdict_text(report, style), explanations_text(report, style, most),
       whose_clocks(report, style, most), worst_violation(report, style),
       edges.empty() ? "" : edges + equal_text(report) + inside_domains_text(report),
       bounds_text(report.bounds, report.resolution_hz, style),
       style.verbose ? method_text(report, style) : notes_text(report, report.judgement, 0, style),
       report.violations > 0 ? paragraph(go_on, style) : ""});
}

}  // namespace

std::string to_text(const CheckReport& report, const Style& style) {
  if (style.brief) return verdict_text(report, style);
  return on_a_screen(style, [&](std::size_t most) { return report_text(report, style, most); });
}

Json to_json(const CheckReport& report) {
  Json edges = Json::object();
  for (std::size_t i = 0; i < k_edge_kinds; ++i)
    edges[name_of(static_cast<EdgeKind>(i))] = edge_json(report.edges[i], report.resolution_hz);
  Json mu = Json::object();
  for (std::size_t i = 0; i < k_latency_classes; ++i)
    mu[name_of(static_cast<LatencyClass>(i))] = seconds(report.mu_ticks[i], report.resolution_hz);
  const std::string sessions = text_of(report.estimation.sessions);
  Json json = {{"schema", "entrain.check/1"},
               {"archive", report.archive},
               {"locations", report.locations},
               {"events", report.events},
               {"communication_events", report.communication_events},
               {"resolution_hz", report.resolution_hz},
               {"presync", name_of(report.presync)},
               {"presync_reason", text_or_null(report.estimation.reason)},
               {"presync_sessions", text_or_null(sessions)},
               {"clocks", clocks_json(report.clocks)},
               {"clock_quality", nullptr},
               {"explanations", explanations_json(report)},
               {"warnings", report.estimation.warnings},
               {"edges", std::move(edges)},
               {"violations", report.violations},
               {"below_latency", report.below_latency},
               {"equal", report.equal},
               {"inside_domains", inside_domains_json(report)},
               {"mu_s", std::move(mu)},
               {"mu_source", text_of(report.mu_source)},
               {"unmatched", counters(report.unmatched)},
               {"skipped", counters(report.skipped)},
               {"completeness", completeness_json(report.completeness)},
               {"coverage", coverage_json(report.coverage)},
               {"set_aside", set_aside_json(report)},
               {"checked_edges", report.checked_edges},
               {"min_coverage_share", number(report.min_coverage)}};
  add_verdict(json, report.judgement);
  if (!report.guesses.empty()) json["notes"] = report.guesses;
  if (report.bounds) json["bounds"] = bounds_json(*report.bounds, report.resolution_hz);
  // Large members last: an object that grows copies what it holds.
  json["clock_quality"] = quality_json(report);
  return json;
}

}  // namespace entrain::report
