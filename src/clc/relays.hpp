// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/big_vector.hpp"
#include "base/team.hpp"
#include "clc/forward.hpp"
#include "clc/incidence.hpp"
#include "match/extremes.hpp"
#include "match/graph.hpp"

namespace entrain::clc {

/// A position in a list of nodes that two members of a team have in the same order.
struct HaloPlace {
  std::uint32_t rank = 0;   ///< the other member
  std::uint32_t index = 0;  ///< position in Halo::ghosts_of[rank] or Halo::shown_to[rank]
};

/// Where the ghosts of a member stand in Halo::ghosts_of.
///
/// Example: a member has 100 nodes of its own. Ghost 102 is the second one of member 3, so its
/// place is {3, 1}.
class GhostPlaces {
 public:
  explicit GhostPlaces(const match::Graph& graph)
      : own_count_(graph.own_count()), places_(graph.halo.ghosts.size()) {
    for (std::uint32_t r = 0; r < graph.halo.ghosts_of.size(); ++r) {
      const std::vector<NodeIndex>& ghosts = graph.halo.ghosts_of[r];
      for (std::uint32_t i = 0; i < ghosts.size(); ++i) places_[ghosts[i] - own_count_] = {r, i};
    }
  }

  [[nodiscard]] HaloPlace of(NodeIndex ghost) const { return places_[ghost - own_count_]; }

 private:
  std::size_t own_count_;
  BigVector<HaloPlace> places_;  ///< place of each ghost
};

/// This member's part of an exchange that it shares with other members: it reduces the times of its
/// own begins and spreads them in stages. After the last stage it knows the demands of the exchange
/// on its own ends.
struct Relay {
  std::uint32_t begins = 0;  ///< begins at this member; the first stage waits for them
  std::uint32_t first_end = 0, end_count = 0;  ///< range of Relays::ends
  std::uint32_t members = 0;                   ///< members that take part
  std::uint32_t first_target = 0;              ///< position in Relays::targets
};

/// A relay at another member, as that one numbers it.
struct RelayTarget {
  std::uint32_t rank = 0;
  std::uint32_t relay = 0;
};

/// The relays of a member of a team. With them a collective of many locations costs each member a
/// few parcels, and its home nothing: without them the home looks at the time of every participant.
///
/// They do a dissemination allreduce: in stage s, member i of the P that take part sends to members
/// i + 4^s, i + 2 * 4^s and i + 3 * 4^s (modulo P), and waits for as many. Then the next stage
/// begins. After log4(P) stages each knows the maximum of all; some times arrive twice, which does
/// not change a maximum. Members without begins only pass on what they hear.
///
/// Example: a barrier of 64 locations, four at each of 16 members. In stage 0 member 5 sends the
/// two largest of its four times to members 6, 7 and 8, and waits for 4, 3 and 2. In stage 1 it
/// sends the two largest of these 16 to members 9, 13 and 1, and waits for 1, 13 and 9.
///
/// Relays need one mu for all classes, to combine times, and know neither the order of a scan nor
/// tied nodes. Exchanges with these are left to their home.
class Relays {
 public:
  /// No relays.
  Relays() = default;
  /// Makes the relays of all exchanges that relays can do. Collective. `uniform`: there is one mu.
  Relays(Team& team, const match::Graph& graph, const Cycles& cycles, const GhostPlaces& ghosts,
         bool uniform);

  /// Some member has relays.
  [[nodiscard]] bool any() const { return any_; }
  /// Per exchange that this member is the home of: it is left to relays. Empty: none is.
  [[nodiscard]] const std::vector<bool>& relayed() const { return relayed_; }

  [[nodiscard]] std::span<const Relay> relays() const { return {relays_.data(), relays_.size()}; }
  [[nodiscard]] std::span<const NodeIndex> ends(const Relay& relay) const {
    return {ends_.data() + relay.first_end, relay.end_count};
  }
  /// Members that each one sends to in a stage, and waits for. Three need half of the stages that
  /// one needs; more cost more work than they save waiting (bench/flow.py).
  static constexpr std::uint32_t k_fanout = 3;
  /// Relays that a relay sends to in a stage; none after the last one.
  [[nodiscard]] std::span<const RelayTarget> targets(const Relay& relay,
                                                     std::uint32_t stage) const {
    const std::uint32_t count = std::min(k_fanout, (relay.members - 1) >> 2 * stage);
    return {targets_.data() + relay.first_target + k_fanout * stage, count};
  }
  /// The relays that a node of this member is a begin of.
  [[nodiscard]] std::span<const std::uint32_t> begun_by(NodeIndex node) const {
    if (relays_.empty()) return {};
    return begun_by_.of(node);
  }

 private:
  void take_in(const match::Graph& graph, std::uint32_t home, bool own,
               std::span<const std::uint32_t> description);

  bool any_ = false;
  std::vector<bool> relayed_;
  BigVector<Relay> relays_;
  BigVector<NodeIndex> ends_;
  BigVector<RelayTarget> targets_;
  BigVector<std::pair<NodeIndex, std::uint32_t>> begins_;  ///< empty once it is built: node, relay
  NodeLists begun_by_;
};

/// How far the relays of a member are, in passes that go together side by side in lanes.
class RelayProgress {
 public:
  /// The two largest times of begins that are known so far, one entry per lane.
  using Known = std::span<const match::LargestTwo>;

  /// Requests of relays to their owner.
  class Out {
   public:
    virtual ~Out() = default;
    /// Somebody awaits what is known, in this stage.
    virtual void pass_on(const RelayTarget& target, std::uint32_t stage, Known known) = 0;
    /// All times are known; `end` is one of this member's ends.
    virtual void all_known(NodeIndex end, Known known) = 0;
  };

  /// References must outlive this.
  RelayProgress(const Relays& relays, std::size_t lanes, Out& out)
      : relays_(relays), lanes_(lanes), out_(out), known_(relays.relays().size() * lanes) {
    for (const Relay& relay : relays.relays()) states_.push_back({.begins_missing = relay.begins});
  }

  /// News of other members that will come.
  [[nodiscard]] std::uint64_t awaited() const {
    std::uint64_t count = 0;
    for (const Relay& relay : relays_.relays()) {
      std::size_t news = 1;
      for (std::uint32_t stage = 0; news > 0; ++stage) {
        news = relays_.targets(relay, stage).size();
        count += news;
      }
    }
    return count;
  }
  /// Begins the relays that have no begins of their own to wait for.
  void start() {
    for (std::uint32_t i = 0; i < states_.size(); ++i) {
      if (states_[i].begins_missing == 0) go_on(i);
    }
  }
  /// A begin of this member has times, one per lane.
  void begun(std::uint32_t relay, LocationIndex location, std::span<const std::int64_t> times) {
    for (std::size_t i = 0; i < lanes_; ++i) known(relay)[i].add(times[i], location);
    if (--states_[relay].begins_missing == 0) go_on(relay);
  }
  /// News of another member, for a stage of a relay here.
  void hear(std::uint32_t relay, std::uint32_t stage, Known news) {
    for (std::size_t i = 0; i < lanes_; ++i) known(relay)[i].add(news[i]);
    ++states_[relay].heard[stage];
    if (states_[relay].begins_missing == 0) go_on(relay);
  }

 private:
  static constexpr std::size_t k_most_stages = 16;  ///< enough for 2^32 members
  /// Where a relay is.
  struct State {
    std::uint32_t begins_missing = 0;
    std::uint32_t stages = 0;                         ///< stages that have begun
    std::array<std::uint8_t, k_most_stages> heard{};  ///< news of each stage
  };

  /// Begins one stage after the other as long as the one before it is over. After the last one, all
  /// is known.
  void go_on(std::uint32_t number) {
    const Relay& relay = relays_.relays()[number];
    State& state = states_[number];
    const auto is_over = [&](std::uint32_t stage) {
      return state.heard[stage] == relays_.targets(relay, stage).size();
    };
    while (state.stages == 0 || is_over(state.stages - 1)) {
      const std::uint32_t stage = state.stages++;
      const std::span<const RelayTarget> targets = relays_.targets(relay, stage);
      for (const RelayTarget& target : targets) out_.pass_on(target, stage, known(number));
      if (!targets.empty()) continue;
      for (const NodeIndex end : relays_.ends(relay)) out_.all_known(end, known(number));
      return;
    }
  }
  [[nodiscard]] std::span<match::LargestTwo> known(std::uint32_t relay) {
    return {known_.data() + relay * lanes_, lanes_};
  }

  const Relays& relays_;
  const std::size_t lanes_;
  Out& out_;
  std::vector<State> states_;           ///< state of each relay
  BigVector<match::LargestTwo> known_;  ///< largest two times of each relay and lane
};

}  // namespace entrain::clc
