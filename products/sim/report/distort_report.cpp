// SPDX-License-Identifier: BSD-3-Clause
#include "sim/report/reports.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/json.hpp"
#include "report/parts.hpp"
#include "report/units.hpp"

namespace entrain::report {

std::string to_text(const DistortReport& report, const Style& style) {
  FieldList fields;
  fields.field("archive", report.input + " (the ground truth)").field("distorted", report.output);
  add_leftovers(fields, report.leftovers_removed);
  fields
      .field("trace",
             fmt::format("{}, {}, {} (seed {})", format_number_of(report.locations, "location"),
                         format_number_of(report.events, "event"),
                         format_number_of(report.clocks, "clock"), report.seed))
      .field("largest error", format_duration(report.largest_offset_s) + " of a clock as stored");
  if (report.has_records) {
    fields.field("residual", format_duration(report.largest_residual_s) +
                                 " at most after linear interpolation of the ClockOffset records");
  }
  return fields.text(style);
}

Json to_json(const DistortReport& report) {
  Json json = {{"schema", "entrain.distort/1"},
               {"archive", report.input},
               {"output", report.output},
               {"seed", report.seed},
               {"locations", report.locations},
               {"clocks", report.clocks},
               {"events", report.events},
               {"largest_offset_s", number(report.largest_offset_s)},
               {"largest_residual_s",
                report.has_records ? number(report.largest_residual_s) : Json(nullptr)}};
  add_leftovers(json, report.leftovers_removed);
  return json;
}

template <>
std::string json_text(const DistortReport& report) {
  return dump(to_json(report));
}

}  // namespace entrain::report
