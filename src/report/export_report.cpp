// SPDX-License-Identifier: BSD-3-Clause
#include "report/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/parts.hpp"
#include "report/units.hpp"

namespace entrain::report {

std::string to_text(const ExportReport& report, const Style& style) {
  FieldList about;
  about.field("archive", report.counts.archive)
      .field("file", fmt::format("{}: {}, {}", report.file, name_of(report.format),
                                 format_bytes(report.bytes)));
  if (report.format != ExportFormat::csv) {
    about.field("tracks", fmt::format("{}: {}", format_count(report.tracks),
                                      format_number_of(report.slices, "call", "calls")));
    about.field("arrows", fmt::format("{}, {} of them backward", format_count(report.flows),
                                      format_count(report.backward)));
  }
  about.field("violations",
              fmt::format("{} of {} by the {}", format_count(report.counts.violations),
                          format_count(report.counts.checked_edges),
                          report.corrected ? "corrected times" : "clocks as measured"));
  const std::string unread = unread_text(report.counts);
  if (!unread.empty()) about.field("not whole", unread + ": what they lack is not written");
  for (const std::string& guess : report.counts.guesses) about.field("guessed", guess);
  for (const std::string& note : report.notes) about.field("note", note);
  return about.text(style);
}

Json to_json(const ExportReport& report) {
  return {{"schema", "entrain.export/1"},
          {"archive", report.counts.archive},
          {"file", report.file},
          {"format", name_of(report.format)},
          {"corrected", report.corrected},
          {"bytes", report.bytes},
          {"tracks", report.tracks},
          {"slices", report.slices},
          {"flows", report.flows},
          {"backward", report.backward},
          {"marked_violations", report.violations},
          {"notes", report.notes},
          {"counts", to_json(report.counts)}};
}

}  // namespace entrain::report
