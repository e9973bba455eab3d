// SPDX-License-Identifier: BSD-3-Clause
// The reports of verbs that write a trace in another form.
#include "report/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/parts.hpp"
#include "report/units.hpp"

namespace entrain::report {
namespace {

void add_doubts(FieldList& about, const CheckReport& counts) {
  const std::string unread = unread_text(counts);
  if (!unread.empty()) about.field("not whole", unread + ": what they lack is not written");
  for (const std::string& guess : counts.guesses) about.field("guessed", guess);
}

}  // namespace

std::string to_text(const EdgesReport& report, const Style& style) {
  FieldList about;
  about.field("archive", report.counts.archive)
      .field("edges",
             fmt::format("{}: {}, {} of {}", report.edges_file,
                         format_number_of(report.edges, "single edge"),
                         format_number_of(report.members, "begin or end", "begins and ends"),
                         format_number_of(report.instances, "collective")))
      .field("clocks", fmt::format("{}: {}, {}", report.clocks_file,
                                   format_number_of(report.counts.locations, "clock"),
                                   format_number_of(report.sessions, "session")))
      .field("violations", fmt::format("{} of {} by the clocks as measured",
                                       format_count(report.counts.violations),
                                       format_count(report.counts.checked_edges)));
  add_doubts(about, report.counts);
  return about.text(style);
}

Json to_json(const EdgesReport& report) {
  return {{"schema", "entrain.edges/1"},     {"archive", report.counts.archive},
          {"edges_file", report.edges_file}, {"clocks_file", report.clocks_file},
          {"edges", report.edges},           {"instances", report.instances},
          {"members", report.members},       {"clocks", report.counts.locations},
          {"sessions", report.sessions},     {"counts", to_json(report.counts)}};
}

std::string to_text(const ExportReport& report, const Style& style) {
  FieldList about;
  about.field("archive", report.counts.archive)
      .field("file", fmt::format("{}: {}, {}", report.file, name_of(report.format),
                                 format_bytes(report.bytes)));
  if (report.format != ExportFormat::csv) {
    about.field("tracks", fmt::format("{}: {}", format_count(report.tracks),
                                      format_number_of(report.slices, "call")));
    about.field("arrows", fmt::format("{}, {} of them backward", format_count(report.flows),
                                      format_count(report.backward)));
  }
  about.field("violations",
              fmt::format("{} of {} by the {}", format_count(report.counts.violations),
                          format_count(report.counts.checked_edges),
                          report.corrected ? "corrected times" : "clocks as measured"));
  add_doubts(about, report.counts);
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

std::string to_text(const MergeReport& report, const Style& style) {
  const std::string corrected = to_text(report.correction, style);
  if (style.brief) return corrected;
  const MergedEvents& events = report.events;
  FieldList about;
  about
      .field("file", fmt::format("{}: {}, {}", report.file, name_of(report.format),
                                 format_bytes(report.bytes)))
      .field("holds", fmt::format("{} of {} in {} and {}",
                                  format_number_of(events.slices + events.unfinished, "slice"),
                                  format_number_of(report.ranks, "rank"),
                                  format_number_of(report.processes, "process", "processes"),
                                  format_number_of(report.tracks, "track")))
      .field("also", fmt::format("{} of arguments, {} of arrows, {} of counters, {} and {}",
                                 format_number_of(events.arguments, "value"),
                                 format_number_of(events.arrow_ends, "end"),
                                 format_number_of(events.counters, "value"),
                                 format_number_of(events.instants, "instant"),
                                 format_number_of(events.metadata, "name")))
      .field("added", format_number_of(report.added_arrows, "arrow") +
                          " between ranks, and the track entrain");
  if (report.overlapping > 0) {
    about.field("overlapping", format_number_of(report.overlapping, "further track") +
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

std::string to_text(const PartReport& report, const Style& style) {
  if (style.brief) return "";
  FieldList fields;
  fields.field("part",
               fmt::format("{}, {}, {}", format_number_of(report.files, "file"),
                           format_bytes(report.bytes), format_number_of(report.events, "time")));
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
                                   format_number_of(report.files, "file")))
      .field("go on", fmt::format("entrain apply {} PART... -o DIR, for each part", report.file));
  fields.some("table", report.table);
  return corrected + "\n" + fields.text(style);
}

Json to_json(const FitReport& report) {
  return {{"schema", "entrain.fit/1"},
          {"file", report.file},
          {"table", text_or_null(report.table)},
          {"summaries", report.summaries},
          {"files", report.files},
          {"correction", to_json(report.correction)}};
}

}  // namespace entrain::report
