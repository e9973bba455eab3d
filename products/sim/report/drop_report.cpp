// SPDX-License-Identifier: BSD-3-Clause
#include "sim/report/reports.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/json.hpp"
#include "report/parts.hpp"
#include "report/units.hpp"

namespace entrain::report {
namespace {

/// Locations that a report shows by default.
constexpr std::size_t k_locations_shown = 8;

std::string share_text(const DropCount& count) {
  if (count.records == 0) return "";
  return format_share(static_cast<double>(count.lost) / static_cast<double>(count.records));
}

std::string total_text(const DropReport& report) {
  return fmt::format("{} of {} ({})", format_count(report.lost),
                     format_number_of(report.events, "record"),
                     share_text({report.events, report.lost}));
}

std::uint64_t others_lost(const DropReport& report) {
  std::uint64_t sum = 0;
  for (const DropLocation& location : report.locations) sum += location.others_lost;
  return sum;
}

/// Records outside the kinds of messages and collectives.
DropCount others(const DropReport& report) {
  std::uint64_t communication = 0;
  for (const DropCount& count : report.kinds) communication += count.records;
  return {report.events - std::min(report.events, communication), others_lost(report)};
}

void add_row(Table& table, const char* name, const DropCount& count) {
  table.row({name, format_count(count.records), format_count(count.lost), share_text(count)});
}

Table kind_table(const DropReport& report, const Style& style) {
  Table table;
  table.column("record", Align::left).column("records").column("lost").column("share");
  for (std::size_t k = 0; k < k_record_kinds; ++k) {
    const DropCount& count = report.kinds[k];
    if (count.records > 0 || style.verbose)
      add_row(table, name_of(static_cast<RecordKind>(k)), count);
  }
  add_row(table, "all others", others(report));
  return table;
}

/// The name of the process where that is clear, else "MPI Rank 3, Master thread".
class Names {
 public:
  explicit Names(const DropReport& report) {
    for (const DropLocation& location : report.locations) ++locations_[location.process];
  }
  [[nodiscard]] std::string operator()(const DropLocation& location) const {
    if (locations_.at(location.process) == 1 || location.process == location.name)
      return location.process;
    return location.process + ", " + location.name;
  }

 private:
  std::map<std::string, std::size_t> locations_;  ///< number of them by process
};

std::uint64_t all_lost(const DropLocation& location) {
  return location.communication.lost + location.others_lost;
}

std::string window_begin(const DropLocation& location, std::uint64_t resolution_hz) {
  if (!location.window) return "";
  return format_time(static_cast<std::int64_t>(location.window->begin), resolution_hz);
}

std::string window_length(const DropLocation& location, std::uint64_t resolution_hz) {
  if (!location.window) return "";
  const std::uint64_t ticks = location.window->end - location.window->begin;
  return format_ticks(static_cast<std::int64_t>(ticks), resolution_hz);
}

std::string end_text(const DropLocation& location, std::uint64_t resolution_hz) {
  if (!location.end) return "";
  return format_time(static_cast<std::int64_t>(*location.end), resolution_hz);
}

/// The locations of the table: those that lost something, most first.
std::vector<const DropLocation*> losers(const DropReport& report, const Style& style) {
  std::vector<const DropLocation*> found;
  for (const DropLocation& location : report.locations) {
    if (all_lost(location) > 0 || location.window || location.end || style.verbose)
      found.push_back(&location);
  }
  if (style.verbose) return found;
  std::stable_sort(found.begin(), found.end(),
                   [](const auto* a, const auto* b) { return all_lost(*a) > all_lost(*b); });
  return found;
}

Table location_table(const DropReport& report, const std::vector<const DropLocation*>& shown) {
  const auto any = [&](auto has) { return std::any_of(shown.begin(), shown.end(), has); };
  const bool windows = any([](const DropLocation* l) { return l->window.has_value(); });
  const bool ends = any([](const DropLocation* l) { return l->end.has_value(); });
  const Names names(report);
  Table table;
  table.column("location", Align::left).column("comm.").column("lost");
  if (windows) table.column("window from").column("for");
  if (ends) table.column("others").column("end");
  for (const DropLocation* location : shown) {
    std::vector<Cell> cells{names(*location), format_count(location->communication.records),
                            format_count(location->communication.lost)};
    if (windows) {
      cells.emplace_back(window_begin(*location, report.resolution_hz));
      cells.emplace_back(window_length(*location, report.resolution_hz));
    }
    if (ends) {
      cells.emplace_back(format_count(location->others_lost));
      cells.emplace_back(end_text(*location, report.resolution_hz));
    }
    table.row(std::move(cells));
  }
  return table;
}

std::string location_text(const DropReport& report, const Style& style) {
  std::vector<const DropLocation*> shown = losers(report, style);
  if (shown.empty()) return "";
  const std::size_t all = shown.size();
  if (!style.verbose && all > k_locations_shown) shown.resize(k_locations_shown);
  std::string text = "\n" + location_table(report, shown).text(style);
  if (shown.size() < all) {
    text += fmt::format("The {} that lost most, of {}; all with -v.\n", shown.size(),
                        format_number_of(all, "location"));
  }
  return text;
}

}  // namespace

std::string to_text(const DropReport& report, const Style& style) {
  FieldList fields;
  fields.field("archive", report.input + " (the ground truth)").field("written", report.output);
  add_leftovers(fields, report.leftovers_removed);
  fields.field("lost", fmt::format("{}, seed {}", total_text(report), report.seed));
  if (report.marks > 0) {
    fields.field("marks", format_number_of(report.marks, "MeasurementOnOff record"));
  }
  return fields.text(style) + "\n" + kind_table(report, style).text(style) +
         location_text(report, style);
}

Json to_json(const DropReport& report) {
  Json kinds = Json::object();
  for (std::size_t k = 0; k < k_record_kinds; ++k) {
    kinds[name_of(static_cast<RecordKind>(k))] = {{"records", report.kinds[k].records},
                                                  {"lost", report.kinds[k].lost}};
  }
  Json locations = Json::array();
  for (const DropLocation& location : report.locations) {
    Json line = {{"location", location.id},
                 {"name", location.name},
                 {"process", location.process},
                 {"communication", location.communication.records},
                 {"lost", location.communication.lost},
                 {"others_lost", location.others_lost},
                 {"window", nullptr},
                 {"end_ticks", nullptr}};
    if (location.window) {
      line["window"] = {{"begin_ticks", location.window->begin},
                        {"end_ticks", location.window->end}};
    }
    if (location.end) line["end_ticks"] = *location.end;
    locations.push_back(std::move(line));
  }
  Json json = {{"schema", "entrain.drop/1"},
               {"archive", report.input},
               {"output", report.output},
               {"seed", report.seed},
               {"resolution_hz", report.resolution_hz},
               {"events", report.events},
               {"lost", report.lost},
               {"marks", report.marks},
               {"kinds", std::move(kinds)},
               {"others", {{"records", others(report).records}, {"lost", others(report).lost}}},
               {"locations", std::move(locations)}};
  add_leftovers(json, report.leftovers_removed);
  return json;
}

template <>
std::string json_text(const DropReport& report) {
  return dump(to_json(report));
}

}  // namespace entrain::report
