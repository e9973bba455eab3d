// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/options.hpp>

#include "clc/extremes.hpp"
#include "clc/incidence.hpp"
#include "clc/schedule.hpp"
#include "match/graph.hpp"

namespace entrain::clc {

/// Result of one pass of forward amortization.
struct Forward {
  std::vector<std::int64_t> times;  ///< LC' per node, ticks, >= C
  std::vector<bool> jump;           ///< per node: pushed by a sender (or by delta)
  std::uint64_t jumps = 0;
  std::int64_t error = 0;           ///< e: largest LC' - C
  bool overflow = false;            ///< a time passed k_latest_time: the result is worthless
};

/// No time of a trace may be later, ticks: far enough from 2^63 for sums.
inline constexpr std::int64_t k_latest_time = std::int64_t{1} << 61;

/// How far a displacement has decayed: `top` ticks at time `since`, falling by 1 - gamma per tick.
///
/// Kept exactly: only a reading is rounded, up. A state rounded at every node would never decay.
struct Decay {
  std::int64_t top = 0;    ///< displacement at `since`, >= 0
  std::int64_t since = 0;  ///< C at the last jump

  /// ceil(max(0, top - (1 - gamma) * (c - since))), c >= since.
  [[nodiscard]] std::int64_t at(std::int64_t c, Decimal9 gamma) const;
};

/// One pass of equation (3') of Becker, Rabenseifner, Wolf (2007) in displacement form (clc.md,
/// section 4), along `schedule`. Linear in nodes, edges and members.
class ForwardPass {
 public:
  ForwardPass(const match::Graph& graph, const Incidence& incidence, const Schedule& schedule,
              std::span<const std::int64_t> presync, const MuTicks& mu, std::int64_t delta);

  Forward run(Decimal9 gamma);

 private:
  /// How far the running maximum of an ordered exchange has come.
  struct Prefix {
    std::int64_t largest = k_no_demand;
    std::uint32_t added = 0;  ///< send members seen
  };

  void run_nodes(LocationIndex location, NodeIndex begin, NodeIndex end);
  void run_exchange(std::uint32_t exchange, std::uint32_t begin, std::uint32_t end);
  void run_tied(const TiedNodes& component);
  [[nodiscard]] std::int64_t demand_on(NodeIndex node) const;
  [[nodiscard]] std::int64_t demand_from_outside(NodeIndex node, std::uint32_t component);
  [[nodiscard]] std::int64_t undisturbed(LocationIndex location, NodeIndex node) const;
  void settle(LocationIndex location, NodeIndex node, std::int64_t time, std::int64_t undisturbed);

  const match::Graph& graph_;
  const Incidence& incidence_;
  const Schedule& schedule_;
  std::span<const std::int64_t> presync_;
  MuTicks mu_;
  std::int64_t delta_;
  Extremes extremes_;
  Decimal9 gamma_;
  Forward result_;
  std::vector<Decay> decay_;           ///< per location
  std::vector<std::int64_t> demand_;   ///< per receive member
  std::vector<Prefix> prefix_;         ///< per exchange
};

}  // namespace entrain::clc
