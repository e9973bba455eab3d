// SPDX-License-Identifier: BSD-3-Clause
#include "report/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/parts.hpp"
#include "report/units.hpp"

namespace entrain::report {
namespace {

std::uint64_t span_ticks(const ArchiveInfo& info) {
  return info.last_ticks > info.first_ticks ? info.last_ticks - info.first_ticks : 0;
}

std::string contents_text(const ArchiveInfo& info) {
  std::string text = format_number_of(info.locations, info.format.empty() ? "location" : "clock");
  if (info.format.empty()) {
    text += fmt::format(" in {} on {}", format_number_of(info.processes, "process", "processes"),
                        format_number_of(info.nodes, "node"));
  }
  if (info.empty_locations > 0)
    text += fmt::format("; {} without events", format_count(info.empty_locations));
  return text;
}

std::string clock_text(const ArchiveInfo& info) {
  return fmt::format("{}, one tick is {}; starts at {} ticks", format_frequency(info.resolution_hz),
                     format_ticks(1.0, info.resolution_hz), format_count(info.global_offset_ticks));
}

std::string offsets_text(const ArchiveInfo& info) {
  if (info.clock_offset_records == 0) return "no ClockOffset records";
  return fmt::format("{} at {} of {}",
                     format_number_of(info.clock_offset_records, "ClockOffset record"),
                     format_count(info.locations_with_clock_offsets),
                     format_number_of(info.locations, "location"));
}

Table counter_table(const char* heading, const Counters& counts, const Style& style) {
  Table table{{heading, Align::left}, {"records"}};
  for (const auto& [name, count] : counts) {
    if (count > 0 || style.verbose) table.row({name, format_count(count)});
  }
  return table;
}

void add_times(FieldList& fields, const ArchiveInfo& info) {
  const std::string span =
      fmt::format("{} from first to last event",
                  format_duration(seconds_of(span_ticks(info), info.resolution_hz)));
  if (!info.format.empty()) {
    fields.field("span", span);
    return;
  }
  fields.field("clock", clock_text(info))
      .field("span",
             fmt::format("{}; {} by the definitions", span,
                         format_duration(seconds_of(info.length_ticks, info.resolution_hz))))
      .field("offsets", offsets_text(info));
  add_completeness(fields, info.completeness);
}

}  // namespace

std::string to_text(const ArchiveInfo& info, const Style& style) {
  FieldList fields;
  fields.field("archive", info.archive)
      .some("machine", info.machine)
      .some("creator", info.creator)
      .some("description", info.description)
      .field("format", info.format.empty() ? fmt::format("OTF2 trace format {}", info.trace_format)
                                           : info.format)
      .field("trace", contents_text(info))
      .field("events",
             fmt::format("{}, {} of communication; {} of event files", format_count(info.events),
                         format_count(info.communication_events), format_bytes(info.event_bytes)));
  add_times(fields, info);
  for (const std::string& note : info.notes) fields.field("note", note);
  std::string text = fields.text(style);
  for (const auto& [heading, counts] : {std::pair{"communication", &info.communication},
                                        {"collectives", &info.collectives},
                                        {"groups", &info.groups}}) {
    const Table table = counter_table(heading, *counts, style);
    if (!table.empty()) text += "\n" + table.text(style);
  }
  FieldList properties;
  for (const auto& [name, value] : info.properties) properties.field(name, value);
  FieldList anomalies;
  for (const auto& [name, count] : info.anomalies) {
    if (count > 0) anomalies.field(name, format_count(count), Tone::bad);
  }
  return text + section("Properties", properties.text(style), style) +
         section("Anomalies", anomalies.text(style), style);
}

Json to_json(const ArchiveInfo& info) {
  Json properties = Json::object();
  for (const auto& [name, value] : info.properties) properties[name] = value;
  return {{"schema", "entrain.info/1"},
          {"archive", info.archive},
          {"format", info.format.empty() ? "OTF2" : info.format},
          {"machine", info.machine},
          {"creator", info.creator},
          {"description", info.description},
          {"trace_format", info.trace_format},
          {"locations", info.locations},
          {"empty_locations", info.empty_locations},
          {"processes", info.processes},
          {"nodes", info.nodes},
          {"events", info.events},
          {"event_bytes", info.event_bytes},
          {"communication_events", info.communication_events},
          {"communication", counters(info.communication)},
          {"collectives", counters(info.collectives)},
          {"groups", counters(info.groups)},
          {"resolution_hz", info.resolution_hz},
          {"global_offset_ticks", info.global_offset_ticks},
          {"length_ticks", info.length_ticks},
          {"length_s", seconds(info.length_ticks, info.resolution_hz)},
          {"first_ticks", info.first_ticks},
          {"last_ticks", info.last_ticks},
          {"span_s", seconds(span_ticks(info), info.resolution_hz)},
          {"clock_offset_records", info.clock_offset_records},
          {"locations_with_clock_offsets", info.locations_with_clock_offsets},
          {"properties", std::move(properties)},
          {"completeness", completeness_json(info.completeness)},
          {"anomalies", counters(info.anomalies)},
          {"notes", info.notes}};
}

}  // namespace entrain::report
