// SPDX-License-Identifier: BSD-3-Clause
#include "sim/report/reports.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/json.hpp"
#include "report/parts.hpp"
#include "report/units.hpp"

namespace entrain::report {
namespace {

double per_second(const SynthReport& report) {
  return report.seconds > 0 ? static_cast<double>(report.events) / report.seconds : 0;
}

/// Names of the simulated program, without its size, and of its iterations.
struct ProgramWords {
  const char *subject, *iteration, *iterations;
};
ProgramWords words_of(const SynthReport& report) {
  if (report.format == SynthFormat::chrome) return {"training run", "step", "steps"};
  if (report.format == SynthFormat::otlp) return {"services", "request", "requests"};
  return {name_of(report.pattern), "iteration", "iterations"};
}

}  // namespace

std::string to_text(const SynthReport& report, const Style& style) {
  const ProgramWords words = words_of(report);
  FieldList fields;
  fields.field("archive", fmt::format("{} ({})", report.archive, format_bytes(report.event_bytes)));
  add_leftovers(fields, report.leftovers_removed);
  return fields
      .field("pattern",
             fmt::format("{}, {}, {} (seed {})", words.subject,
                         format_number_of(report.locations, "location"),
                         format_number_of(report.iterations, words.iteration, words.iterations),
                         report.seed))
      .field(
          "trace",
          fmt::format("{} ({} of communication, {}), {}", format_number_of(report.events, "event"),
                      format_count(report.communication_events),
                      format_share(share_of(report.communication_events, report.events)),
                      format_duration(report.span_s)))
      .field("communication", fmt::format("{}, {}", format_number_of(report.messages, "message"),
                                          format_number_of(report.collectives, "collective")))
      .field("time", fmt::format("{}, {:.1f} million events per second",
                                 format_duration(report.seconds), per_second(report) * 1e-6))
      .text(style);
}

Json to_json(const SynthReport& report) {
  Json json = {{"schema", "entrain.synth/1"},
               {"archive", report.archive},
               {"format", name_of(report.format)}};
  if (report.format == SynthFormat::otf2) json["pattern"] = name_of(report.pattern);
  json.update(Json{{"seed", report.seed},
                   {"locations", report.locations},
                   {"iterations", report.iterations},
                   {"events", report.events},
                   {"communication_events", report.communication_events},
                   {"messages", report.messages},
                   {"collectives", report.collectives},
                   {"event_bytes", report.event_bytes},
                   {"span_s", number(report.span_s)},
                   {"seconds", number(report.seconds)}});
  add_leftovers(json, report.leftovers_removed);
  return json;
}

template <>
std::string json_text(const SynthReport& report) {
  return dump(to_json(report));
}

}  // namespace entrain::report
