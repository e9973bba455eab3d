// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "base/random.hpp"
#include "fit/problem.hpp"

namespace entrain::fit {

/// Clocks that swing once in a run, each by a share of its own of some ticks, and that were
/// measured at both ends. Tests add the messages.
struct SwingingClocks {
  static constexpr std::int64_t k_span = 1'000'000'000;

  SwingingClocks(std::uint64_t seed, double ticks) : random(seed, 0), amplitude(ticks) {}
  SwingingClocks(const SwingingClocks&) = delete;
  SwingingClocks& operator=(const SwingingClocks&) = delete;

  [[nodiscard]] std::int64_t error(std::uint32_t clock, std::int64_t time) const {
    const double share = static_cast<double>(time) / k_span;
    return std::llround(amplitude * std::sin(std::numbers::pi * share) * std::sin(clock));
  }
  /// A message sent at any time, 500 to 2,500 ticks on its way.
  void add_message(std::uint32_t from, std::uint32_t to) {
    const auto sent = static_cast<std::int64_t>(random.below(k_span));
    const std::int64_t received = sent + 500 + static_cast<std::int64_t>(random.below(2'000));
    ClockConstraint constraint;
    constraint.from = from;
    constraint.to = to;
    constraint.from_time = sent + error(from, sent);
    constraint.to_time = received + error(to, received);
    constraint.slack = constraint.to_time - constraint.from_time;
    constraints.push_back(constraint);
  }
  /// Messages of any clock to one at most `distance` numbers away, on a ring.
  void add_messages_on_ring(std::uint32_t clocks, std::uint32_t distance, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto from = static_cast<std::uint32_t>(random.below(clocks));
      const auto away = static_cast<std::uint32_t>(1 + random.below(distance));
      add_message(from, (from + (random.below(2) == 0 ? away : clocks - away)) % clocks);
    }
  }
  /// To be called when all messages are there.
  void measure(std::uint32_t clocks) {
    for (std::uint32_t c = 0; c < clocks; ++c) {
      for (const std::int64_t time : {std::int64_t{0}, k_span}) sessions.push_back({c, time, 100});
    }
    problem.clocks = clocks;
    problem.end = k_span;
    problem.knots = 33;
    problem.sigma = 100;
    problem.constraints = constraints;
    problem.sessions = sessions;
  }

  RandomStream random;
  double amplitude;
  std::vector<ClockConstraint> constraints;
  std::vector<SessionConstraint> sessions;
  CausalProblem problem;
};

}  // namespace entrain::fit
