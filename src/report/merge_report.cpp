// SPDX-License-Identifier: BSD-3-Clause
#include "report/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/parts.hpp"
#include "report/units.hpp"

namespace entrain::report {

std::string to_text(const MergeReport& report, const Style& style) {
  const std::string corrected = to_text(report.correction, style);
  if (style.brief) return corrected;
  const MergedEvents& events = report.events;
  FieldList about;
  about
      .field("file", fmt::format("{}: {}, {}", report.file, name_of(report.format),
                                 format_bytes(report.bytes)))
      .field("holds",
             fmt::format("{} of {} in {} and {}",
                         format_number_of(events.slices + events.unfinished, "slice", "slices"),
                         format_number_of(report.ranks, "rank", "ranks"),
                         format_number_of(report.processes, "process", "processes"),
                         format_number_of(report.tracks, "track", "tracks")))
      .field("also", fmt::format("{} of arguments, {} of arrows, {} of counters, {} and {}",
                                 format_number_of(events.arguments, "value", "values"),
                                 format_number_of(events.arrow_ends, "end", "ends"),
                                 format_number_of(events.counters, "value", "values"),
                                 format_number_of(events.instants, "instant", "instants"),
                                 format_number_of(events.metadata, "name", "names")))
      .field("added", format_number_of(report.added_arrows, "arrow", "arrows") +
                          " between ranks, and the track entrain");
  if (report.overlapping > 0) {
    about.field("overlapping",
                format_number_of(report.overlapping, "further track", "further tracks") +
                    " for slices that do not nest");
  }
  add_counters(about, "unusual", report.unusual, style);
  return corrected + "\n" + about.text(style);
}

Json to_json(const MergeReport& report) {
  const MergedEvents& events = report.events;
  return {{"schema", "entrain.merge/1"},
          {"file", report.file},
          {"format", name_of(report.format)},
          {"bytes", report.bytes},
          {"ranks", report.ranks},
          {"processes", report.processes},
          {"tracks", report.tracks},
          {"overlapping", report.overlapping},
          {"slices", events.slices},
          {"unfinished", events.unfinished},
          {"instants", events.instants},
          {"counters", events.counters},
          {"arrow_ends", events.arrow_ends},
          {"metadata", events.metadata},
          {"arguments", events.arguments},
          {"added_arrows", report.added_arrows},
          {"unusual", counters(report.unusual)},
          {"correction", to_json(report.correction)}};
}

}  // namespace entrain::report
