// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <rapidcheck.h>

#include "support/random_trace.hpp"

namespace entrain::test {

/// A number of steps or ticks that spreads over orders of magnitude: 0 to about 3 * 10^digits.
inline rc::Gen<std::int64_t> spread(int digits) {
  return rc::gen::map(rc::gen::pair(rc::gen::inRange(0, digits + 1), rc::gen::inRange(0, 4)),
                      [](const std::pair<int, int>& number) {
                        std::int64_t value = number.second;
                        for (int i = 0; i < number.first; ++i) value *= 10;
                        return value;
                      });
}

inline rc::Gen<bool> flag() { return rc::gen::arbitrary<bool>(); }

/// Any program under any clocks; no record is missing. Shrinks towards few processes, few steps,
/// good clocks.
inline rc::Gen<TracePlan> any_plan(int max_processes = 12, int max_steps = 250) {
  namespace gen = rc::gen;
  const auto count = [](int low, int high) {
    return gen::cast<std::uint32_t>(gen::inRange(low, high));
  };
  const auto number = [](std::initializer_list<double> values) {
    return gen::elementOf(std::vector<double>(values));
  };
  return gen::build<TracePlan>(
      gen::set(&TracePlan::seed, gen::inRange<std::uint64_t>(1, 1'000'000)),
      gen::set(&TracePlan::processes, count(1, max_processes + 1)),
      gen::set(&TracePlan::threads, count(1, 4)),
      gen::set(&TracePlan::processes_per_node, count(1, 5)),
      gen::set(&TracePlan::sub_comms, count(0, 3)), gen::set(&TracePlan::inter_comms, count(0, 3)),
      gen::set(&TracePlan::steps, count(0, max_steps)), gen::set(&TracePlan::tags, count(1, 4)),
      gen::set(&TracePlan::mpi_threads, flag()),
      gen::set(&TracePlan::wildcard, number({0, 0.2, 0.7})),
      gen::set(&TracePlan::persistent, number({0, 0.5})),
      gen::set(&TracePlan::shuffle_locations, flag()), gen::set(&TracePlan::init_finalize, flag()),
      gen::set(&TracePlan::dense_alltoallv, flag()),
      gen::set(&TracePlan::named_partners, number({0, 0.5, 1})),
      gen::set(&TracePlan::gap_ticks, gen::elementOf(std::vector<std::int64_t>{10, 1, 100, 5000})),
      gen::set(&TracePlan::latency_ticks, gen::elementOf(std::vector<std::int64_t>{3, 0, 40})),
      gen::set(&TracePlan::downhill, number({0, 0.5, 0.95})),
      gen::set(&TracePlan::domain,
               gen::element(ClockDomain::process, ClockDomain::location, ClockDomain::node)),
      gen::set(&TracePlan::base_ticks,
               gen::elementOf(std::vector<std::int64_t>{1'000'000, 0, 1'700'000'000'000'000'000})),
      gen::set(&TracePlan::offset_ticks, spread(5)),
      gen::set(&TracePlan::drift_ppm, number({0, 20, 2000, 100'000})),
      gen::set(&TracePlan::wander_ppm, number({0, 50, 5000, 200'000})),
      gen::set(&TracePlan::wander_period_ticks,
               gen::elementOf(std::vector<std::int64_t>{1000, 100'000})),
      gen::set(&TracePlan::granule_ticks,
               gen::elementOf(std::vector<std::uint64_t>{1, 1, 3, 40, 500})),
      gen::set(&TracePlan::presync_sessions,
               gen::elementOf(std::vector<std::uint32_t>{0, 0, 2, 5})),
      gen::set(&TracePlan::presync_noise_ticks, spread(2)));
}

}  // namespace entrain::test
