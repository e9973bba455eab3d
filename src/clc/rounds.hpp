// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/team.hpp"
#include "clc/forward.hpp"

namespace entrain::clc {

/// Forward amortization in a team.
///
/// Every member runs equation (3') along its own schedule and takes for the nodes of others, its
/// ghosts, what it heard last: at first their presynchronised times. Then all tell each other which
/// of their shown times came out differently, in one parcel per pair of members, and evaluate again
/// what depends on these, until nobody has news. As edges and local order form no cycle, the
/// equations have one solution and every round settles at least the next node of every chain, so
/// the result is the same, bit by bit, for every number of members. A clean trace needs one round;
/// otherwise there are about as many as a correction crosses from one member to another before it
/// has decayed or meets a larger one.
class ForwardRounds final : private ForwardListener {
 public:
  /// All references must outlive this. `presync` has the times of ghosts too.
  ForwardRounds(Team& team, const match::Graph& graph, const Incidence& incidence,
                const Schedule& schedule, std::span<const std::int64_t> presync, const MuTicks& mu,
                std::int64_t delta);

  /// One pass. Collective; jumps, error and overflow are those of the team, times and jump flags
  /// of this member, with the final times of its ghosts. Nothing if it takes more than
  /// `most_rounds` rounds (0: as many as it needs), or when `progress` (may be null) tells some
  /// member that the user wants to stop.
  std::optional<Forward> run(Decimal9 gamma, std::uint64_t most_rounds,
                             const Progress* progress = nullptr);

 private:
  enum class About : std::uint32_t { time, demand, proposal };
  /// News for another member. `index` is a position in the list of nodes that both have in the same
  /// order, or the number of a tied component.
  struct Update {
    About about = About::time;
    std::uint32_t index = 0;
    std::int64_t value = 0;
  };
  struct Shown {
    std::uint32_t rank = 0;
    std::uint32_t index = 0;                   ///< in Halo::shown_to[rank]
    std::int64_t sent = 0;                     ///< time that the other one knows
    std::int64_t demand = match::k_no_demand;  ///< of the other one
  };
  struct GhostState {
    std::uint32_t rank = 0;
    std::uint32_t index = 0;  ///< in Halo::ghosts_of[rank]
    std::int64_t presync = 0;
    std::int64_t sent = match::k_no_demand;  ///< demand that the owner knows
    bool changed = false;
  };
  struct Proposal {
    std::int64_t own = match::k_no_demand;
    std::int64_t sent = match::k_no_demand;
    std::vector<std::int64_t> of_peer;  ///< as TiedNodes::peers
  };

  void time_changed(NodeIndex node) override;
  void demand_changed(std::uint32_t member) override;
  void start_changed(std::uint32_t step) override { mark(step); }
  [[nodiscard]] std::int64_t remote_demand(NodeIndex node) const override;
  std::int64_t common_time(std::uint32_t component, std::int64_t own) override;

  void begin(Decimal9 gamma);
  void sweep();
  [[nodiscard]] bool stopped() const { return progress_ != nullptr && progress_->cancelled(); }
  enum class Talk { no_news, news, stopped };
  /// Sends all news; tells what the team has.
  Talk talk();
  void collect_times(std::vector<std::vector<Update>>& parcels);
  void collect_demands(std::vector<std::vector<Update>>& parcels);
  void collect_proposals(std::vector<std::vector<Update>>& parcels);
  void hear(std::uint32_t rank, const Update& update);
  void mark(std::uint32_t step);
  void mark_dependents(NodeIndex node, std::uint32_t behind);
  void mark_tied_receivers(std::uint32_t exchange, std::uint32_t first_step);
  void note_ghost(NodeIndex ghost);

  Team& team_;
  const match::Graph& graph_;
  const Incidence& incidence_;
  const Schedule& schedule_;
  std::span<const std::int64_t> presync_;
  NodeLists out_edges_;
  StepLinks links_;
  ForwardPass pass_;
  BigVector<Shown> shown_;   ///< all entries of Halo::shown_to
  NodeLists shown_of_node_;  ///< indices into shown_
  BigVector<GhostState> ghosts_;
  std::vector<Proposal> proposals_;   ///< per tied component
  std::vector<std::uint64_t> dirty_;  ///< one bit per step
  std::vector<NodeIndex> changed_nodes_;
  std::vector<std::uint32_t> changed_ghosts_;
  bool first_sweep_ = true;
  const Progress* progress_ = nullptr;
  std::uint32_t step_ = 0;  ///< in work
};

}  // namespace entrain::clc
