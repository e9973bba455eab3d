// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/options.hpp>
#include <entrain/progress.hpp>

#include "base/flat_map.hpp"
#include "base/team.hpp"
#include "clc/incidence.hpp"
#include "clc/schedule.hpp"
#include "match/extremes.hpp"
#include "match/graph.hpp"

namespace entrain::clc {

/// Result of one pass of forward amortization.
struct Forward {
  BigVector<std::int64_t> times;  ///< LC' per node, ticks, >= C
  std::vector<bool> jump;         ///< per node: pushed by a sender (or by delta)
  std::uint64_t jumps = 0;
  std::int64_t error = 0;  ///< e: largest LC' - C
  bool overflow = false;   ///< a time passed k_latest_time: the result is worthless
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

  friend bool operator==(const Decay&, const Decay&) = default;
};

/// Who wants to know what a pass changes, and may add demands from outside: see ForwardRounds.
class ForwardListener {
 public:
  virtual ~ForwardListener() = default;
  /// The time of a node has changed.
  virtual void time_changed(NodeIndex node) = 0;
  /// What an exchange demands of a member has changed.
  virtual void demand_changed(std::uint32_t member) = 0;
  /// A step has to be evaluated again: the one before it in its location ends in another state.
  virtual void start_changed(std::uint32_t step) = 0;
  /// What other members of the team demand of a node, or k_no_demand.
  [[nodiscard]] virtual std::int64_t remote_demand(NodeIndex node) const = 0;
  /// Common time that other members propose for a tied component after hearing `own`.
  virtual std::int64_t common_time(std::uint32_t component, std::int64_t own) = 0;
};

/// Which steps touch a node or an exchange.
struct StepLinks {
  StepLinks(const match::Graph& graph, const Schedule& schedule);

  BigVector<std::uint32_t> step_of_node;  ///< per node of this member
  NodeLists steps_of_exchange;            ///< by exchange, in order
};

/// Makes what the members of a team counted, each over its own nodes, numbers of the team.
void agree_on_counts(Team& team, Forward& pass);

/// One pass of equation (3') of Becker, Rabenseifner, Wolf (2007) in displacement form
/// (docs/method.md, section 4), along `schedule`. Linear in nodes, edges and members.
class ForwardPass {
 public:
  ForwardPass(const match::Graph& graph, const Incidence& incidence, const Schedule& schedule,
              std::span<const std::int64_t> presync, const MuTicks& mu, std::int64_t delta);

  /// All steps from the beginning. For a graph without ghosts. Nothing of use, soon, when
  /// `progress` (may be null) says that the user wants to stop.
  Forward run(Decimal9 gamma, const Progress* progress = nullptr);

  // The same step by step: start(), then every step in an order that the graph allows, finish().
  void start(Decimal9 gamma);
  void evaluate(const Step& step);

  // The same bit by bit: begin(), then every step in order, then any steps again whose input
  // changed, in order, as the listener hears of it.

  /// Ghosts begin with their presynchronised times. The listener must outlive the pass.
  void begin(Decimal9 gamma, const StepLinks& links, ForwardListener& listener);
  void evaluate_again(std::uint32_t step);
  void set_ghost(NodeIndex ghost, std::int64_t time) { result_.times[ghost] = time; }
  [[nodiscard]] std::int64_t time(NodeIndex node) const { return result_.times[node]; }
  /// What the exchanges of this member demand of a ghost.
  [[nodiscard]] std::int64_t demand_on_ghost(NodeIndex ghost);
  /// Counts jumps and the error over this member's nodes and hands the result over.
  Forward finish();

 private:
  /// How far the running maximum of an ordered exchange has come.
  struct Prefix {
    std::int64_t largest = match::k_no_demand;
    std::uint32_t added = 0;  ///< send members seen
    friend bool operator==(const Prefix&, const Prefix&) = default;
  };

  void run_nodes(LocationIndex location, NodeIndex begin, NodeIndex end);
  void run_exchange(std::uint32_t exchange, std::uint32_t begin, std::uint32_t end);
  void run_tied(const TiedNodes& component);
  void demand(std::uint32_t member, std::int64_t demand);
  [[nodiscard]] std::int64_t demand_on(NodeIndex node) const;
  [[nodiscard]] std::int64_t demand_from_outside(NodeIndex node, std::uint32_t component);
  [[nodiscard]] std::int64_t undisturbed(LocationIndex location, NodeIndex node) const;
  /// True if the time is another one than before.
  bool settle(LocationIndex location, NodeIndex node, std::int64_t time, std::int64_t undisturbed);
  void run_ordered(std::uint32_t exchange, std::uint32_t begin, std::uint32_t end);
  void enter_tied(const TiedNodes& component);
  /// Hands the state behind `node` on to the step that goes on from there.
  void pass_on(LocationIndex location, NodeIndex node, bool time_changed);
  void pass_on_prefix(std::uint32_t exchange);

  const match::Graph& graph_;
  const Incidence& incidence_;
  const Schedule& schedule_;
  std::span<const std::int64_t> presync_;
  MuTicks mu_;
  std::int64_t delta_;
  match::Extremes extremes_;
  Decimal9 gamma_;
  Forward result_;
  std::vector<Decay> decay_;        ///< per location
  BigVector<std::int64_t> demand_;  ///< per receive member
  BigVector<Prefix> prefix_;        ///< per exchange

  // Only with a listener: the state in which every step was begun.
  const StepLinks* links_ = nullptr;
  ForwardListener* listener_ = nullptr;
  std::uint32_t step_ = 0;                              ///< in work
  std::uint32_t frontier_ = 0;                          ///< steps below were evaluated before
  BigVector<Decay> decay_before_;                       ///< per step that runs nodes
  BigVector<Prefix> prefix_before_;                     ///< per step of an ordered exchange
  FlatMap<NodeIndex, Decay, IntegerHash> tied_before_;  ///< by node of a tied component
};

}  // namespace entrain::clc
