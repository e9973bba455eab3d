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
#include "clc/flow_lane.hpp"
#include "clc/forward.hpp"
#include "clc/relays.hpp"
#include "clc/scheduler.hpp"
#include "trace/share.hpp"

namespace entrain::clc {

/// The part of a data-flow that the graph determines: what members of a team exchange in every
/// pass, in the numbers of this member. The graph must stay as it is.
struct FlowPlan {
  /// Collective.
  FlowPlan(Team& team, const ForwardProblem& problem);

  /// Returns the place of an entry; entries number all lists of Halo::shown_to, one after the
  /// other.
  [[nodiscard]] HaloPlace place_of_shown(std::uint32_t entry) const;

  const GhostPlaces ghosts;
  const Relays relays;
  const Incidence incidence;  ///< incidence without the exchanges left to relays

  /// In `demanding`: demands of a relay, which is no entry.
  static constexpr std::uint32_t k_relay = k_none;

  /// By own node: its entries in Halo::shown_to at members that wait for its time.
  NodeLists shown;
  NodeLists demanding;  ///< entries of members that demand something of an own node; k_relay: a
                        ///< relay does
  std::vector<std::uint32_t> first_shown;  ///< number of each rank's first entry
  std::uint64_t awaited = 0;               ///< times of ghosts, and demands of members, that come
};

/// Forward amortization by a data-flow, in a team of any size: members send each other what they
/// wait for, and wait for nothing else. Can always make passes, up to k_most_lanes together; the
/// gammas must be the same at every member.
///
/// Every member evaluates the nodes that it can (see Scheduler). It sends the time of a node to the
/// members that have it as a ghost, and the demand of its exchanges on a ghost to the owner, once
/// all that they depend on is known: each node is evaluated once. What others need leaves in small
/// batches, soon. Edges and local order form no cycle, so somebody can always go on until all times
/// are known, and they are the same, bit by bit, for every number of members.
///
/// Where several members take part in a collective, each combines the times of its own begins, and
/// relays spread them (see Relays). What relays cannot do is left to the home of the collective.
///
/// Passes with several gammas go through the graph together, side by side in lanes: what a node
/// waits for does not depend on gamma, and a chain of corrections that crosses members many times
/// costs waiting, not work. So further lanes cost little.
///
/// Cycles are not known before the first pass. The nodes of a cycle wait for each other, so some
/// nodes are left. Then cycles are tied or cut (see settle_cycles()), and the pass is made again.
///
/// Example: that of Forward, with P, Q and R at one member each. The member of P evaluates its send
/// and sends 1000. That of Q, which waited for it, evaluates both nodes of Q and sends 1208. That
/// of R evaluates three nodes. With a second lane for gamma 1, the first sends 1000 and 1000, the
/// second 1208 and 1210.
class FlowForward final : private Scheduler::Others, private RelayProgress::Out {
 public:
  /// All references must outlive this.
  FlowForward(const trace::Share& share, const ForwardProblem& problem)
      : share_(share), team_(share.team), problem_(problem) {}

  /// Passes that can be made together.
  static constexpr std::size_t k_most_lanes = 5;

  /// See Forward.
  Result<std::vector<ForwardTimes>> run(std::span<const Decimal9> gammas);

 private:
  enum class About : std::uint16_t { time, demand, proposal, news };
  using Values = std::array<std::int64_t, k_most_lanes>;
  /// `index` is a position in the list of nodes that both have in the same order, or the number of
  /// a tied component, or of a relay. News for a relay are three updates, one behind the other: the
  /// first values, the second ones, and the owners of the first (match::LargestTwo).
  struct Update {
    About about = About::time;
    std::uint16_t stage = 0;  ///< stage of a relay
    std::uint32_t index = 0;
    Values values{};  ///< one value for each lane
  };
  /// News of a member of which a part has arrived.
  struct PartOfNews {
    Values first{}, second{};
    std::uint32_t parts = 0;
  };
  /// Requests of other members for a node or a tied component so far.
  struct Asked {
    std::uint32_t missing = 0;  ///< members that have not asked yet
    bool proposed = false;      ///< components: by this member
  };

  // RelayProgress::Out.
  void pass_on(const RelayTarget& target, std::uint32_t stage, RelayProgress::Known known) override;
  void all_known(NodeIndex end, RelayProgress::Known known) override;

  // Scheduler::Others.
  [[nodiscard]] bool owe_demand(NodeIndex node) const override;
  [[nodiscard]] bool owe_proposals(std::uint32_t component) override;
  void answer_tied(NodeIndex ghost) override;

  std::optional<std::vector<ForwardTimes>> try_passes(std::span<const Decimal9> gammas);
  void begin(std::span<const Decimal9> gammas);
  Courier::News flow();
  [[nodiscard]] bool complete() const { return missing_ == 0 && scheduler_->finished(); }
  void take(std::uint32_t rank, const Update& update);
  void take_news(std::uint32_t rank, const Update& update);
  void hear_demand(NodeIndex node, const Values& times);
  void carry_out(const Step& step);
  void tell_time(LocationIndex location, NodeIndex node);
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

  const trace::Share share_;
  Team& team_;
  const ForwardProblem problem_;
  const match::Graph& graph_ = problem_.graph;
  const Cycles& cycles_ = problem_.cycles;
  std::optional<FlowPlan> plan_;
  std::deque<FlowLane> lanes_;  ///< lanes of the passes in work; all that follows belongs to them,
                                ///< too
  std::optional<Mail<Update>> mail_;
  std::optional<Scheduler> scheduler_;
  std::optional<RelayProgress> progress_;
  std::vector<PartOfNews> news_;  ///< one entry for each rank
  BigVector<Asked> asked_;        ///< index: rank of the node in FlowPlan::demanding
  std::vector<Asked> proposals_;  ///< one entry for each tied component
  std::vector<bool> known_;       ///< flag of each participant: its demand on a ghost is known
  std::uint64_t missing_ = 0;     ///< updates that will come
};

}  // namespace entrain::clc
