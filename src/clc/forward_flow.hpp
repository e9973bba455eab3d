// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/courier.hpp"
#include "base/team.hpp"
#include "clc/forward_steps.hpp"
#include "clc/scheduler.hpp"

namespace entrain::clc {

/// What the members of a team send each other in every pass, in the numbers of this member.
struct FlowLinks {
  /// Collective.
  FlowLinks(Team& team, const match::Graph& graph, const Incidence& incidence);

  /// A position in the list of nodes that two members have in the same order.
  struct Place {
    std::uint32_t rank = 0;   ///< the other member
    std::uint32_t index = 0;  ///< in Halo::ghosts_of[rank] or Halo::shown_to[rank]
  };
  /// Of an entry of all lists of Halo::shown_to, one after the other.
  [[nodiscard]] Place place_of_shown(std::uint32_t entry) const;

  NodeLists shown;                         ///< by own node: its entries in Halo::shown_to
  NodeLists demanding;                     ///< those of members that demand something of the node
  std::vector<std::uint32_t> first_shown;  ///< per rank: its first entry
  BigVector<Place> of_ghost;               ///< per ghost
};

/// One of the passes of a ForwardFlow.
class FlowLane final : public ForwardSteps<FlowLane> {
 public:
  FlowLane(const ForwardProblem& problem, const Incidence& incidence, const FlowLinks& links)
      : ForwardSteps(problem, incidence), links_(links) {}

  void begin(Decimal9 gamma);
  [[nodiscard]] std::int64_t time_of(NodeIndex node) const { return result_.times[node]; }
  void set_time(NodeIndex ghost, std::int64_t time) { result_.times[ghost] = time; }
  /// Another member demands `time` of a node of this one, or proposes it for a tied component.
  void hear_demand(NodeIndex node, std::int64_t time);
  void hear_proposal(std::uint32_t component, std::int64_t time);
  /// What this member's exchanges demand of a ghost; of a tied one, what does so from outside of
  /// its component.
  [[nodiscard]] std::int64_t demand_of_exchanges(NodeIndex ghost) const;
  [[nodiscard]] std::int64_t demand_on_tied(NodeIndex ghost);
  /// The time that this member proposes for a tied component.
  [[nodiscard]] std::int64_t proposal(std::uint32_t component) {
    return own_time_of_tied(cycles_.tied[component], component);
  }
  /// From the time of a node that did not wait to the one that is demanded of it, if it is later.
  [[nodiscard]] std::optional<TimeWindow> window_of(NodeIndex forced);

 private:
  friend class ForwardSteps<FlowLane>;
  // Hooks of ForwardSteps.
  [[nodiscard]] std::int64_t remote_demand(NodeIndex node) const;
  std::int64_t common_time(std::uint32_t component, std::int64_t own) const;

  const FlowLinks& links_;
  BigVector<std::int64_t> demanded_;    ///< by others; by rank of the node in FlowLinks::demanding
  std::vector<std::int64_t> proposed_;  ///< by others, per tied component
};

/// Passes of a team whose members send each other what they wait for, and wait for nothing else.
///
/// Every member evaluates the nodes that it can (see Scheduler). It sends the time of a node to the
/// members that have it as a ghost, and the demand of its exchanges on a ghost to the owner, once
/// all that they depend on is known: each node is evaluated once. What others need leaves in small
/// batches, soon. Edges and local order form no cycle, so somebody can always go on until all times
/// are known, and they are the same, bit by bit, for every number of members.
///
/// Passes with several gammas go through the graph together, side by side in lanes: what a node
/// waits for does not depend on gamma, and a chain of corrections that crosses members many times
/// costs waiting, not work. So further lanes cost little.
///
/// Cycles are not known before the first pass. Where members wait for each other in a circle, and
/// nothing else goes on, a node of the circle is evaluated without what it waits for; later ever
/// more nodes at once, as a long cycle may hold the members up many times. The passes are then of
/// no use but to show where the cycles are: times rise along all other edges, so the nodes of a
/// cycle have times between that of such a node and the one that is demanded of it.
///
/// Example, that of Forward, with A, B and C at one member each. A evaluates its send and sends
/// 1000. B, which has waited for it, evaluates both of its nodes and sends 1208. C evaluates its
/// three. With a second lane for gamma 1, A sends 1000 and 1000, B sends 1208 and 1210.
class ForwardFlow final : private Scheduler::Others {
 public:
  /// All references must outlive this. Collective.
  ForwardFlow(Team& team, const ForwardProblem& problem, const Incidence& incidence);

  /// Passes that can be made together.
  static constexpr std::size_t k_most_lanes = 5;

  struct Outcome {
    /// Per gamma. Jumps, error and overflow are those of the team, times and jump flags of this
    /// member, with the times of its ghosts.
    std::vector<ForwardTimes> passes;
    bool circles = false;  ///< members waited for each other
    /// Then all nodes of cycles have times of the first pass in a window of this member or another
    /// one.
    std::vector<TimeWindow> windows;
  };
  /// Makes a pass for each of up to k_most_lanes gammas, the same at every member. Collective;
  /// nothing when the user wants to stop, or if there are more cycles than those of the problem,
  /// which has tied nodes.
  std::optional<Outcome> run(std::span<const Decimal9> gammas);

 private:
  enum class About : std::uint32_t { time, demand, proposal };
  using Values = std::array<std::int64_t, k_most_lanes>;
  /// `index` is a position in the list of nodes that both have in the same order, or the number of
  /// a tied component.
  struct Update {
    About about = About::time;
    std::uint32_t index = 0;
    Values values{};  ///< per lane
  };
  /// What others have asked of a node or a tied component so far.
  struct Asked {
    std::uint32_t missing = 0;  ///< members that have not asked yet
    bool proposed = false;      ///< components: by this member
  };
  /// A location that waits for a node of another one.
  struct Wait {
    LocationIndex from = k_none;
    LocationIndex to = k_none;
  };

  // Scheduler::Others.
  [[nodiscard]] bool owe_demand(NodeIndex node) const override;
  [[nodiscard]] bool owe_proposals(std::uint32_t component) override;
  void answer_tied(NodeIndex ghost) override;

  void begin(std::span<const Decimal9> gammas);
  Courier::News flow();
  [[nodiscard]] bool complete() const { return missing_ == 0 && scheduler_->finished(); }
  void take(std::uint32_t rank, const Update& update);
  void carry_out(const Step& step);
  void tell_time(NodeIndex node);
  void answer(NodeIndex ghost);
  [[nodiscard]] bool all_known(NodeIndex ghost) const;
  void tell_demand(NodeIndex ghost, const Values& demands);
  /// value_of(lane) of every lane.
  template <class ValueOf>
  Values per_lane(ValueOf value_of) {
    Values values{};
    for (std::size_t i = 0; i < lanes_.size(); ++i) values[i] = value_of(lanes_[i]);
    return values;
  }

  bool break_circles();
  std::vector<Wait> find_waits();
  [[nodiscard]] LocationIndex awaited_by_ghost(NodeIndex ghost) const;
  [[nodiscard]] std::vector<TimeWindow> windows();

  Team& team_;
  const ForwardProblem problem_;
  const match::Graph& graph_;
  const Cycles& cycles_;
  const Incidence& incidence_;
  const FlowLinks links_;
  std::deque<FlowLane> lanes_;  ///< of the passes in work, like all that follows
  std::optional<Mail<Update>> mail_;
  std::optional<Scheduler> scheduler_;
  BigVector<Asked> asked_;        ///< by rank of the node in FlowLinks::demanding
  std::vector<Asked> proposals_;  ///< per tied component
  std::vector<bool> known_;       ///< per participant: demand on a ghost that is known
  std::uint64_t missing_ = 0;     ///< updates that will come
  std::vector<NodeIndex> forced_;
  std::uint32_t circles_ = 0;  ///< times that members have waited for each other
};

extern template class ForwardSteps<FlowLane>;

}  // namespace entrain::clc
