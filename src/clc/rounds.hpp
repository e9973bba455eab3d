// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/team.hpp"
#include "clc/team_pass.hpp"

namespace entrain::clc {

/// Passes of a team whose members send each other their news in rounds.
///
/// Every member evaluates equation (3') along its own schedule. Its ghosts have the times that
/// their owners sent last, at first C. Then all members send each other those of their shown times
/// that changed, in one parcel per pair of members, and evaluate again the steps that use them,
/// until nobody has news. Edges and local order form no cycle, so the equation has one solution,
/// and every round settles at least the next node of every chain. The result is the same, bit by
/// bit, for every number of members. A clean trace needs one round. Otherwise there are about as
/// many rounds as a correction crosses from one member to another before it has decayed or meets a
/// larger one.
///
/// Example, that of Forward, with A, B and C at one member each. At first B's ghost of A's send
/// stands at 1000, so B computes 1010 and 1208. C's ghost of B's send stands at 1160, so C's
/// receive stays at 1200. In the first round B sends 1208, and C computes 1218. In the second round
/// nobody has news.
class ForwardRounds {
 public:
  /// All references must outlive this.
  ForwardRounds(Team& team, const ForwardProblem& problem, const Incidence& incidence,
                const Schedule& schedule);

  /// Makes a pass. Collective; jumps, error and overflow are those of the team, times and jump
  /// flags of this member, with the final times of its ghosts. Nothing if it takes more than
  /// `most_rounds` rounds, or when the user wants to stop. 0 means as many rounds as it needs,
  /// which has an end only if ForwardProblem::cycles has all cycles of the team.
  std::optional<ForwardTimes> run(Decimal9 gamma, std::uint64_t most_rounds);

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
    std::uint32_t index = 0;  ///< in Halo::shown_to[rank]
    std::int64_t sent = 0;    ///< time that the other one knows
  };
  struct GhostState {
    std::uint32_t rank = 0;
    std::uint32_t index = 0;                 ///< in Halo::ghosts_of[rank]
    std::int64_t sent = match::k_no_demand;  ///< demand that the owner knows
  };
  using Parcels = std::vector<std::vector<Update>>;  ///< per rank

  void begin(Decimal9 gamma);
  enum class Talk { no_news, news, stopped };
  /// Exchanges all news; returns whether the team had any.
  Talk talk();
  void collect_times(Parcels& parcels);
  void collect_demands(Parcels& parcels);
  void collect_proposals(Parcels& parcels);
  void hear(std::uint32_t rank, const Update& update);

  Team& team_;
  const match::Graph& graph_;
  const Cycles& cycles_;
  std::span<const std::int64_t> presync_;
  Cancel cancel_;
  TeamPass pass_;
  BigVector<Shown> shown_;                  ///< all entries of Halo::shown_to
  std::vector<std::uint32_t> first_shown_;  ///< per rank: index into shown_
  BigVector<GhostState> ghosts_;
  std::vector<std::int64_t> sent_proposals_;  ///< per tied component
};

}  // namespace entrain::clc
