// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <entrain/distort.hpp>
#include <entrain/drop.hpp>
#include <entrain/synth.hpp>

/// Reports with every field filled, for the tests of tables and JSON. Invented numbers.
namespace entrain::report::samples {

inline DistortReport distort() {
  return {"truth/traces.otf2", "skewed/traces.otf2", 42, 32, 8, 131216, 0.0049, true, 23.5e-6};
}

inline SynthReport synth() {
  SynthReport report;
  report.archive = "out/traces.otf2";
  report.pattern = SynthPattern::master_worker;
  report.seed = 42;
  report.locations = 64;
  report.iterations = 1234;
  report.events = 30'000'000;
  report.communication_events = 2'999'998;
  report.messages = 1'400'000;
  report.collectives = 2;
  report.event_bytes = 400 << 20;
  report.span_s = 12.5;
  report.seconds = 0.5;
  return report;
}

/// Windows, an early end, and ten locations that lost few records.
inline DropReport drop() {
  DropReport report;
  report.input = "truth/traces.otf2";
  report.output = "lossy/traces.otf2";
  report.seed = 42;
  report.resolution_hz = 1'000'000'000;
  report.events = 131'216;
  report.marks = 2;
  report.kinds[0] = {10'856, 12};
  report.kinds[3] = {10'856, 1'081};
  report.kinds[9] = {808, 0};
  for (std::uint64_t l = 0; l < 12; ++l) {
    DropLocation location;
    location.id = l << 32;
    location.name = "Master thread";
    location.process = "MPI Rank " + std::to_string(l);
    location.communication = {1'876, l};
    report.locations.push_back(location);
  }
  report.locations[9].process = report.locations[8].process;
  report.locations[9].name = "OMP thread 1";
  report.locations[2].communication.lost = 1'027;
  report.locations[2].window = DropRange{1'700'000'000'123'456'789, 1'700'000'000'234'567'890};
  report.locations[11].others_lost = 40'000;
  report.locations[11].end = 1'700'000'001'000'000'000;
  for (const DropLocation& location : report.locations) {
    report.lost += location.communication.lost + location.others_lost;
  }
  return report;
}

}  // namespace entrain::report::samples
