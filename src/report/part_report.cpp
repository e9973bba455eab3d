// SPDX-License-Identifier: BSD-3-Clause
#include "report/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/parts.hpp"
#include "report/units.hpp"

namespace entrain::report {

std::string to_text(const PartReport& report, const Style& style) {
  if (style.brief) return "";
  FieldList fields;
  fields.field("part", fmt::format("{}, {}, {}", format_number_of(report.files, "file", "files"),
                                   format_bytes(report.bytes),
                                   format_number_of(report.events, "time", "times")));
  for (const std::string& note : report.notes) fields.field("note", note);
  const bool is_summary = report.output_bytes > 0 && report.bytes > 0;
  fields.field("written",
               is_summary ? fmt::format("{}: {}, {} of the part", report.output,
                                        format_bytes(report.output_bytes),
                                        format_share(share_of(report.output_bytes, report.bytes)))
                          : report.output);
  return fields.text(style);
}

Json to_json(const PartReport& report) {
  return {{"schema", "entrain.part/1"}, {"output", report.output},
          {"files", report.files},      {"bytes", report.bytes},
          {"events", report.events},    {"output_bytes", report.output_bytes},
          {"notes", report.notes}};
}

std::string to_text(const FitReport& report, const Style& style) {
  const std::string corrected = to_text(report.correction, style);
  if (style.brief) return corrected;
  FieldList fields;
  fields
      .field("clocks", fmt::format("{}: of {} with {}", report.file,
                                   format_number_of(report.summaries, "summary", "summaries"),
                                   format_number_of(report.files, "file", "files")))
      .field("go on", fmt::format("entrain apply {} PART... -o DIR, for each part", report.file));
  if (!report.table.empty()) fields.field("table", report.table);
  return corrected + "\n" + fields.text(style);
}

Json to_json(const FitReport& report) {
  return {{"schema", "entrain.fit/1"},
          {"file", report.file},
          {"table", report.table.empty() ? Json(nullptr) : Json(report.table)},
          {"summaries", report.summaries},
          {"files", report.files},
          {"correction", to_json(report.correction)}};
}

}  // namespace entrain::report
