// SPDX-License-Identifier: BSD-3-Clause
#include "report/report.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/units.hpp"

namespace entrain::report {
namespace {

constexpr std::size_t k_listed_locations = 10;  // unless verbose

Table statistics_table(const char* heading, Align align) {
  return {{heading, align}, {"events"}, {"rms"}, {"99th percentile"}, {"largest"}, {"mean"}};
}

void add_row(Table& table, std::string name, const DifferenceStatistics& difference) {
  table.row({std::move(name), format_count(difference.events), format_duration(difference.rms_s),
             format_duration(difference.p99_s), format_duration(difference.max_s),
             format_duration(difference.mean_s)});
}

void add_error(Table& table, const char* name, const std::optional<TruthError>& error) {
  if (!error) return;
  add_row(table, fmt::format("error of {}, all events", name), error->all);
  add_row(table, fmt::format("error of {}, communication", name), error->communication);
  add_row(table, "  between clocks", error->between_clocks.communication);
  add_row(table, "  common to all", error->common.communication);
}

void add_affine(FieldList& fields, const char* name, const std::optional<TruthError>& error) {
  if (!error) return;
  fields.field(fmt::format("taken out of {}", name),
               fmt::format("{} and {:.6g} ppm: one offset and rate common to all locations",
                           format_duration(error->affine_offset_s), error->affine_ppm));
}

std::string span_text(const CompareReport& report) {
  if (report.span_source == SpanOrigin::whole_trace)
    return "communication: over the whole trace, no clock sessions are known";
  return fmt::format("communication: between first and last clock session (from {})",
                     name_of(report.span_source));
}

std::string locations_text(const CompareReport& report, const Style& style) {
  std::vector<const LocationDifference*> locations;
  for (const LocationDifference& location : report.locations) locations.push_back(&location);
  if (!style.verbose && locations.size() > k_listed_locations) {
    std::ranges::stable_sort(locations, [](const auto* a, const auto* b) {
      return a->difference.max_s > b->difference.max_s;
    });
    locations.resize(k_listed_locations);
  }
  Table table = statistics_table("location", Align::right);
  for (const LocationDifference* location : locations)
    add_row(table, location->name.empty() ? fmt::format("{}", location->id) : location->name,
            location->difference);
  std::string text = table.text(style);
  if (locations.size() < report.locations.size())
    text += fmt::format("and {} that differ less (-v lists all)\n",
                        format_number_of(report.locations.size() - locations.size(), "location"));
  return text;
}

Json difference_json(const DifferenceStatistics& difference) {
  return {{"events", difference.events},
          {"rms_s", number(difference.rms_s)},
          {"p99_s", number(difference.p99_s)},
          {"max_s", number(difference.max_s)},
          {"mean_s", number(difference.mean_s)}};
}

Json part_json(const ErrorPart& part) {
  return {{"all", difference_json(part.all)},
          {"communication", difference_json(part.communication)}};
}

Json error_json(const std::optional<TruthError>& error) {
  if (!error) return nullptr;
  return {{"all", difference_json(error->all)},
          {"communication", difference_json(error->communication)},
          {"between_clocks", part_json(error->between_clocks)},
          {"common", part_json(error->common)},
          {"affine_offset_s", number(error->affine_offset_s)},
          {"affine_ppm", number(error->affine_ppm)}};
}

}  // namespace

std::string to_text(const CompareReport& report, const Style& style) {
  FieldList about;
  about.field("A", report.a).field("B", report.b).some("truth", report.truth);
  for (const std::string& note : report.notes) about.field("note", note);
  Table table = statistics_table("difference", Align::left);
  add_row(table, "B - A, all events", report.all);
  add_row(table, "B - A, communication", report.communication);
  add_error(table, "A", report.a_error);
  add_error(table, "B", report.b_error);
  FieldList affine;
  add_affine(affine, "A", report.a_error);
  add_affine(affine, "B", report.b_error);
  std::string text =
      about.text(style) + "\n" + table.text(style) + span_text(report) + "\n" + affine.text(style);
  if (!report.locations.empty()) text += "\n" + locations_text(report, style);
  return text;
}

Json to_json(const CompareReport& report) {
  Json locations = Json::array();
  for (const LocationDifference& location : report.locations) {
    Json json = {{"id", location.id}};
    if (!location.name.empty()) json["name"] = location.name;
    json.update(difference_json(location.difference));
    locations.push_back(std::move(json));
  }
  Json json = {{"schema", "entrain.compare/1"},
               {"a", report.a},
               {"b", report.b},
               {"truth", text_or_null(report.truth)},
               {"locations", std::move(locations)},
               {"all", difference_json(report.all)},
               {"communication", difference_json(report.communication)},
               {"span_source", name_of(report.span_source)},
               {"a_error", error_json(report.a_error)},
               {"b_error", error_json(report.b_error)}};
  if (!report.notes.empty()) json["notes"] = report.notes;
  return json;
}

}  // namespace entrain::report
