// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/distort.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "base/exact.hpp"
#include "base/executor.hpp"
#include "base/try.hpp"
#include "sim/model/clock_model.hpp"
#include "sim/model/random.hpp"
#include "trace/clock_maps.hpp"

namespace entrain::sim {

namespace {

constexpr double k_largest_rate = 0.1;
constexpr double k_largest_seconds = 1e9;
/// A clock that would show a negative time is moved to start here: above 0 by more than any
/// rounding.
constexpr std::int64_t k_smallest_start = 16;
constexpr std::int64_t k_largest_time = std::int64_t{1} << 61;

/// A range of true time, ticks.
struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;

  void include(const Range& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
};

/// Extends `range` by `other`; a range without value becomes `other`.
void include(std::optional<Range>& range, const Range& other) {
  if (range) {
    range->include(other);
  } else {
    range = other;
  }
}

struct Unit {
  std::optional<Range> events;        ///< first and last event
  std::optional<std::int64_t> begin;  ///< first end of MPI_Init
  std::optional<std::int64_t> end;    ///< last begin of MPI_Finalize

  /// The two times at which the tracer measured the offset of this unit; it must have events.
  [[nodiscard]] Range measured() const {
    const Range between{begin.value_or(events->first), end.value_or(events->last)};
    return between.first < between.last ? between : *events;
  }
};

Result<void> check(const DistortOptions& options) {
  struct Amount {
    const char* name;
    double value, largest;
  };
  for (const auto& [name, value, largest] :
       {Amount{"the offset", options.offset_s, k_largest_seconds},
        Amount{"the drift", options.drift_ppm, k_largest_rate * 1e6},
        Amount{"the wander", options.wander_ppm, k_largest_rate * 1e6},
        Amount{"the wander period", options.wander_period_s, k_largest_seconds},
        Amount{"the noise of the offsets", options.offset_noise_s, k_largest_seconds},
        Amount{"the size of steps", options.step_s, k_largest_seconds}}) {
    if (value >= 0 && value <= largest) continue;
    return fail(ErrorKind::usage, fmt::format("{} must be a number from 0 up and not absurdly "
                                              "large, not {}",
                                              name, value));
  }
  if (options.steps > k_most_distort_steps) {
    return fail(ErrorKind::usage, fmt::format("the number of steps must be 0 to {}, not {}",
                                              k_most_distort_steps, options.steps));
  }
  if (options.drift_ppm + options.wander_ppm > k_largest_rate * 1e6) {
    return fail(ErrorKind::usage, "drift and wander together must stay below 100000 ppm");
  }
  if (options.sessions == 1 || options.sessions > k_most_distort_sessions) {
    return fail(ErrorKind::usage,
                fmt::format("the number of sessions must be 0 or from 2 to {}, not {}",
                            k_most_distort_sessions, options.sessions));
  }
  return {};
}

/// Per location: number of the unit whose clock it reads.
std::vector<std::uint32_t> units_of(const trace::Definitions& definitions, DistortUnit unit) {
  if (unit == DistortUnit::process) return definitions.process_of;
  if (unit == DistortUnit::node) return definitions.node_of;
  std::vector<std::uint32_t> each(definitions.locations.size());
  std::iota(each.begin(), each.end(), 0u);
  return each;
}

/// Finds in the skeletons when each unit has events and when it would have been measured.
Result<std::vector<Unit>> look_at_units(const trace::Trace& trace,
                                        std::span<const ClockMap> presync,
                                        const std::vector<std::uint32_t>& unit_of) {
  std::vector<Unit> units;
  for (std::size_t l = 0; l < trace.locations.size(); ++l) {
    if (unit_of[l] >= units.size()) units.resize(unit_of[l] + 1);
    const trace::LocationSkeleton& location = trace.locations[l];
    if (location.event_count == 0) continue;
    Unit& unit = units[unit_of[l]];
    // A damaged stream may end before it began; its times are not trusted to be in order.
    const auto [first, last] = std::minmax({presync[l](location.first), presync[l](location.last)});
    const Range events{first, last};
    if (events.first < 0 || events.last > k_largest_time) {
      return fail(ErrorKind::input, fmt::format("the times of location {} of {} are out of range",
                                                trace.definitions.locations[l].id, trace.path));
    }
    include(unit.events, events);
    for (const trace::Event& event : location.events) {
      if (event.kind != trace::EventKind::init_leave &&
          event.kind != trace::EventKind::finalize_enter) {
        continue;
      }
      const std::int64_t t = presync[l](event.time);
      if (event.kind == trace::EventKind::init_leave) {
        unit.begin = std::min(unit.begin.value_or(t), t);
      } else if (event.kind == trace::EventKind::finalize_enter) {
        unit.end = std::max(unit.end.value_or(t), t);
      }
    }
  }
  return units;
}

double ticks(double seconds, const trace::Trace& trace) {
  return seconds * static_cast<double>(trace.definitions.clock.resolution_hz);
}

/// The trace to be distorted, and the units that get clocks.
struct Scene {
  const trace::Trace& trace;
  std::span<const ClockMap> presync;
  const DistortOptions& options;
  std::vector<std::uint32_t> unit_of;  ///< each location's unit
  std::vector<Unit> units;

  /// The unit whose clock is the time base.
  [[nodiscard]] std::uint32_t master() const { return unit_of.front(); }
};

/// Clocks of the units; all were moved by `shift` ticks so that none shows a negative time.
struct Clocks {
  std::vector<ClockMap> maps;
  std::int64_t shift = 0;

  void move(std::int64_t by) {
    shift += by;
    for (ClockMap& map : maps) map = map.shifted(by);
  }
};

/// A clock that is set forward at `steps` random times, by up to `most` ticks each.
Result<ClockMap> with_steps(const ClockMap& clock, std::uint32_t steps, double most,
                            const Range& range, RandomStream random) {
  std::map<std::uint64_t, std::int64_t> sizes;  // by the last true time before the step
  const auto span = static_cast<std::uint64_t>(range.last - range.first);
  for (std::uint32_t i = 0; i < steps && span > 1; ++i) {
    const std::uint64_t at = static_cast<std::uint64_t>(range.first) + random.below(span);
    sizes[at] = static_cast<std::int64_t>(random.uniform(0, most));
  }
  std::map<std::uint64_t, std::int64_t> offsets;
  const auto note = [&](std::uint64_t t) {
    offsets.emplace(t, clock(t) - static_cast<std::int64_t>(t));
  };
  for (const ClockKnot& knot : clock.knots()) note(knot.local);
  for (const auto& [at, size] : sizes) {
    note(at);
    note(at + 1);
  }
  std::vector<ClockKnot> knots;
  std::int64_t sum = 0;
  auto next = sizes.begin();
  for (const auto& [t, offset] : offsets) {
    for (; next != sizes.end() && next->first < t; ++next) sum += next->second;
    knots.push_back({t, offset + sum});
  }
  return ClockMap::from_knots(std::move(knots));
}

Result<Clocks> draw_clocks(const Scene& scene, const Range& range) {
  const DistortOptions& options = scene.options;
  const std::size_t units = scene.units.size();
  SkewAmplitudes amplitudes;
  amplitudes.offset_ticks = ticks(options.offset_s, scene.trace);
  amplitudes.drift = options.drift_ppm * 1e-6;
  amplitudes.wander = options.wander_ppm * 1e-6;
  const double span = static_cast<double>(std::max<std::int64_t>(range.last - range.first, 1));
  amplitudes.wander_period_ticks =
      options.wander_period_s > 0 ? ticks(options.wander_period_s, scene.trace) : span;

  Clocks clocks;
  clocks.maps.resize(units);
  TRY(parallel_for(options.threads, units, [&](std::size_t u) -> Result<void> {
    const auto first = static_cast<std::uint64_t>(range.first);
    const auto last = static_cast<std::uint64_t>(range.last);
    SkewAmplitudes own = amplitudes;
    if (options.steady_master && u == scene.master()) own.wander = 0;
    auto clock = options.wander_kind == WanderKind::walk
                     ? walking_clock(own, options.seed, u, first, last)
                     : sampled(draw_clock(own, options.seed, u), first, last);
    TRY_ASSIGN(clocks.maps[u], std::move(clock));
    if (options.steps == 0) return {};
    constexpr std::uint64_t k_stream_of_steps = std::uint64_t{1} << 40;
    TRY_ASSIGN(clocks.maps[u],
               with_steps(clocks.maps[u], options.steps, ticks(options.step_s, scene.trace),
                          scene.units[u].events.value_or(range),
                          RandomStream(options.seed, k_stream_of_steps + u)));
    return {};
  }));
  std::int64_t needed = 0;
  for (const ClockMap& clock : clocks.maps) {
    const std::int64_t start = clock(static_cast<std::uint64_t>(range.first));
    if (start < range.first) needed = std::max(needed, k_smallest_start - start);
  }
  if (needed > 0) clocks.move(needed);
  return clocks;
}

std::int64_t shown(const ClockMap& clock, std::int64_t true_time) {
  return clock(static_cast<std::uint64_t>(true_time));
}

/// The clocks of a unit and of the master, and when they were compared.
struct Comparison {
  const ClockMap& master;
  const ClockMap& own;
  Range when;
};

/// The records that the tracer would have stored: both clocks read at the same true instants.
std::vector<trace::ClockOffset> measure(const Comparison& unit, std::uint32_t sessions,
                                        double noise_ticks, RandomStream random) {
  std::vector<trace::ClockOffset> records;
  for (std::uint32_t i = 0; i < sessions; ++i) {
    const Int128 passed = Int128{unit.when.last - unit.when.first} * i / (sessions - 1);
    const std::int64_t t = unit.when.first + static_cast<std::int64_t>(passed);
    trace::ClockOffset record;
    const std::int64_t local = shown(unit.own, t);
    const double noise = random.uniform(-noise_ticks, noise_ticks);
    record.time = static_cast<std::uint64_t>(local);
    record.offset = shown(unit.master, t) - local + static_cast<std::int64_t>(std::rint(noise));
    record.stddev = noise_ticks;
    // A reader refuses two records at one time.
    if (!records.empty() && record.time <= records.back().time) {
      record = records.back();
      ++record.time;
    }
    records.push_back(record);
  }
  return records;
}

/// The stamps of a range between which all maps are straight.
std::vector<std::uint64_t> bends(const Range& range, std::initializer_list<const ClockMap*> maps) {
  return trace::straight_stamps(static_cast<std::uint64_t>(range.first),
                                static_cast<std::uint64_t>(range.last), maps);
}

/// The correction that a reader computes from the records.
Result<ClockMap> correction_of(const std::vector<trace::ClockOffset>& records) {
  std::vector<ClockKnot> knots;
  for (const trace::ClockOffset& record : records) knots.push_back({record.time, record.offset});
  return ClockMap::from_knots(std::move(knots));
}

/// Largest |corrected - master| that the records leave between the two measurements, ticks.
Result<std::int64_t> residual(const Comparison& unit,
                              const std::vector<trace::ClockOffset>& records) {
  TRY_ASSIGN(const ClockMap correction, correction_of(records));
  std::int64_t largest = 0;
  ClockMap::Cursor master(unit.master), own(unit.own), reader(correction);
  for (const std::uint64_t t : bends(unit.when, {&unit.master, &unit.own})) {
    const std::int64_t corrected = reader(static_cast<std::uint64_t>(own(t)));
    largest = std::max(largest, std::abs(corrected - master(t)));
  }
  return largest;
}

/// Largest |shown - true| of a clock within `range`, ticks, without the common shift.
std::int64_t largest_error(const ClockMap& clock, const Range& range, std::int64_t shift) {
  std::int64_t largest = 0;
  ClockMap::Cursor shown(clock);
  for (const std::uint64_t t : bends(range, {&clock})) {
    largest = std::max(largest, std::abs(shown(t) - shift - static_cast<std::int64_t>(t)));
  }
  return largest;
}

/// The records that the tracer would have stored for one unit, and its figures for the report.
struct Measured {
  std::vector<trace::ClockOffset> records;
  std::int64_t residual = 0;  ///< ticks, as are errors
  std::int64_t error = 0;
};

/// Fills the records of all locations and the figures of the report.
Result<void> measure_all(const Scene& scene, const Clocks& clocks, Distortion& result) {
  const std::vector<Unit>& units = scene.units;
  const DistortOptions& options = scene.options;
  const double tick_s = 1 / ticks(1, scene.trace);
  std::vector<Measured> measured(units.size());
  TRY(parallel_for(options.threads, units.size(), [&](std::size_t u) -> Result<void> {
    if (!units[u].events) return {};
    const Comparison unit{clocks.maps[scene.master()], clocks.maps[u], units[u].measured()};
    const double noise_ticks = u == scene.master() ? 0 : ticks(options.offset_noise_s, scene.trace);
    // Random streams of clocks have the numbers 0, 1, 2, ...; those of measurements 2^64 - 1 and
    // downwards, so that they never meet.
    Measured& found = measured[u];
    found.records =
        measure(unit, options.sessions, noise_ticks, RandomStream(options.seed, ~std::uint64_t{u}));
    TRY_ASSIGN(found.residual, residual(unit, found.records));
    found.error = largest_error(unit.own, *units[u].events, clocks.shift);
    return {};
  }));
  std::int64_t largest_error = 0;
  std::int64_t largest_residual = 0;
  for (const Measured& found : measured) {
    largest_error = std::max(largest_error, found.error);
    largest_residual = std::max(largest_residual, found.residual);
  }
  for (const std::uint32_t u : scene.unit_of) result.clock_offsets.push_back(measured[u].records);
  result.report.largest_offset_s = static_cast<double>(largest_error) * tick_s;
  result.report.largest_residual_s = static_cast<double>(largest_residual) * tick_s;
  return {};
}

/// Times of a location as stored in the distorted trace and as a reader returns them.
Result<Range> range_of(const trace::LocationSkeleton& location, const ClockMap& map,
                       const std::vector<trace::ClockOffset>& records) {
  TRY_ASSIGN(const ClockMap correction, correction_of(records));
  const std::int64_t first = map(location.first);
  const std::int64_t last = map(location.last);
  Range range{first, last};
  range.include({correction(static_cast<std::uint64_t>(first)),
                 correction(static_cast<std::uint64_t>(last))});
  return range;
}

/// Fills the maps of all locations and the range of their times; uses the records of measure_all().
Result<void> compose_all(const Scene& scene, const Clocks& clocks, Distortion& result) {
  const trace::Trace& trace = scene.trace;
  const std::size_t count = trace.locations.size();
  result.maps.resize(count);
  std::vector<std::optional<Range>> ranges(count);
  TRY(parallel_for(scene.options.threads, count, [&](std::size_t l) -> Result<void> {
    TRY_ASSIGN(result.maps[l], trace::composed(scene.presync[l], clocks.maps[scene.unit_of[l]]));
    const trace::LocationSkeleton& location = trace.locations[l];
    if (location.event_count == 0) return {};
    TRY_ASSIGN(ranges[l], range_of(location, result.maps[l], result.clock_offsets[l]));
    return {};
  }));
  std::optional<Range> range;
  for (std::size_t l = 0; l < count; ++l) {
    result.report.events += trace.locations[l].event_count;
    if (ranges[l]) include(range, *ranges[l]);
  }
  if (range) {
    result.first_time = range->first;
    result.last_time = range->last;
  }
  return {};
}

Distortion without_clocks(const Scene& scene) {
  Distortion result;
  result.report.seed = scene.options.seed;
  result.report.locations = scene.trace.locations.size();
  result.report.clocks = scene.units.size();
  return result;
}

/// Maps, records and report as they follow from the clocks.
Result<Distortion> apply(const Scene& scene, const Clocks& clocks) {
  Distortion result = without_clocks(scene);
  result.shift = clocks.shift;
  TRY(measure_all(scene, clocks, result));
  TRY(compose_all(scene, clocks, result));
  return result;
}

/// For a trace without events, in which no clock was read: nothing changes.
Distortion unchanged(const Scene& scene) {
  Distortion result = without_clocks(scene);
  result.maps.assign(scene.presync.begin(), scene.presync.end());
  result.clock_offsets.resize(scene.trace.locations.size());
  return result;
}

}  // namespace

Result<Distortion> distort(const trace::Trace& trace, std::span<const ClockMap> presync,
                           const DistortOptions& options) {
  TRY(check(options));
  Scene scene{trace, presync, options, units_of(trace.definitions, options.unit), {}};
  TRY_ASSIGN(scene.units, look_at_units(trace, presync, scene.unit_of));

  std::optional<Range> whole;
  for (const Unit& unit : scene.units) {
    if (unit.events) include(whole, *unit.events);
  }
  if (!whole) return unchanged(scene);

  TRY_ASSIGN(Clocks clocks, draw_clocks(scene, *whole));
  TRY_ASSIGN(Distortion result, apply(scene, clocks));
  if (result.first_time < 0) {  // a reader that applies the records gets below 0
    clocks.move(k_smallest_start - result.first_time);
    return apply(scene, clocks);
  }
  return result;
}

}  // namespace entrain::sim
