// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/flat_map.hpp"
#include "clc/forward_steps.hpp"

namespace entrain::clc {

/// The steps that touch a node or an exchange.
struct StepLinks {
  StepLinks(const match::Graph& graph, const Cycles& cycles, const Schedule& schedule);

  BigVector<std::uint32_t> step_of_node;  ///< per node of this member
  NodeLists steps_of_exchange;            ///< by exchange, in order
};

/// A pass over the share of one member of a team, which can be brought up to date when other
/// members have news.
///
/// begin() computes all times with what this member knows: ghosts stand at C, and nobody else
/// demands anything. set_ghost(), set_remote_demand() and set_proposal() bring news of other
/// members, and update() computes again only those steps that depend on them. changed_nodes(),
/// changed_ghosts() and own_proposal() are this member's news for the others.
///
/// To compute a step again, the pass keeps the state in which every step began: the decay of its
/// location, and the running maximum of an ordered exchange.
class TeamPass final : public ForwardSteps<TeamPass> {
 public:
  /// All references must outlive this.
  TeamPass(const ForwardProblem& problem, const Incidence& incidence, const Schedule& schedule);

  /// Starts a pass and evaluates all steps. Ends early when the user wants to stop.
  void begin(Decimal9 gamma);
  /// Evaluates again the steps that news have touched. Ends early when the user wants to stop.
  void update();

  // News of other members.
  void set_ghost(NodeIndex ghost, std::int64_t time);
  /// `shown`: a position in all lists of Halo::shown_to, one after the other.
  void set_remote_demand(std::uint32_t shown, NodeIndex node, std::int64_t demand);
  /// The time that member `rank` asks for as the common one of a tied component.
  void set_proposal(std::uint32_t component, std::uint32_t rank, std::int64_t time);

  // News for other members.
  [[nodiscard]] std::int64_t time(NodeIndex node) const { return result_.times[node]; }
  /// The demand of this member's exchanges on a ghost.
  [[nodiscard]] std::int64_t demand_on_ghost(NodeIndex ghost);
  /// The time that this member's nodes of a tied component ask for as the common one.
  [[nodiscard]] std::int64_t own_proposal(std::uint32_t component) const {
    return proposals_[component].own;
  }
  /// Own nodes that are ghosts elsewhere, and ghosts, that may have changed since the last call.
  std::vector<NodeIndex> take_changed_nodes() { return std::exchange(changed_nodes_, {}); }
  std::vector<NodeIndex> take_changed_ghosts();

  /// Positions in all lists of Halo::shown_to where a node is.
  [[nodiscard]] std::span<const std::uint32_t> shown_of(NodeIndex node) const {
    return shown_of_node_.of(node);
  }

 private:
  friend class ForwardSteps<TeamPass>;
  struct Proposal {
    std::int64_t own = match::k_no_demand;
    std::vector<std::int64_t> of_peer;  ///< as TiedNodes::peers
  };

  // Hooks of ForwardSteps.
  void enter_nodes(LocationIndex location);
  void leave_nodes(LocationIndex location, NodeIndex last, bool last_changed);
  void enter_ordered(std::uint32_t exchange);
  void leave_ordered(std::uint32_t exchange);
  void enter_tied(const TiedNodes& component);
  void time_changed(NodeIndex node);
  void demand_changed(std::uint32_t participant);
  [[nodiscard]] std::int64_t remote_demand(NodeIndex node) const;
  std::int64_t common_time(std::uint32_t component, std::int64_t own);

  void reset(Decimal9 gamma);
  void evaluate_step(std::uint32_t step);
  /// The step in work was evaluated before in this pass.
  [[nodiscard]] bool again() const { return step_ < frontier_; }
  void mark(std::uint32_t step) { dirty_[step / 64] |= std::uint64_t{1} << step % 64; }
  void mark_dependents(NodeIndex node, std::uint32_t after);
  void mark_tied_receivers(std::uint32_t exchange, std::uint32_t first_step);
  void note_ghost(NodeIndex ghost);

  const Schedule& schedule_;
  Cancel cancel_;
  NodeLists out_edges_;
  StepLinks links_;
  NodeLists shown_of_node_;

  std::uint32_t step_ = 0;                              ///< in work
  std::uint32_t frontier_ = 0;                          ///< steps below were evaluated before
  BigVector<Decay> decay_before_;                       ///< per step that runs nodes
  BigVector<Prefix> prefix_before_;                     ///< per step of an ordered exchange
  FlatMap<NodeIndex, Decay, IntegerHash> tied_before_;  ///< by node of a tied component
  std::vector<std::uint64_t> dirty_;                    ///< one bit per step

  BigVector<std::int64_t> remote_demand_;  ///< per entry of all lists of Halo::shown_to
  std::vector<Proposal> proposals_;        ///< per tied component
  std::vector<NodeIndex> changed_nodes_, changed_ghosts_;
  std::vector<bool> ghost_changed_;  ///< per ghost: it is in changed_ghosts_
  bool first_sweep_ = true;
};

extern template class ForwardSteps<TeamPass>;

}  // namespace entrain::clc
