// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/big_vector.hpp"
#include "clc/relays.hpp"
#include "match/extremes.hpp"

namespace entrain::clc {

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
  RelayProgress(const Relays& relays, std::size_t lanes, Out& out);

  /// News of other members that will come.
  [[nodiscard]] std::uint64_t awaited() const;
  /// Begins the relays that have no begins of their own to wait for.
  void start();
  /// A begin of this member has times, one per lane.
  void begun(std::uint32_t relay, LocationIndex location, std::span<const std::int64_t> times);
  /// News of another member, for a stage of a relay here.
  void hear(std::uint32_t relay, std::uint32_t stage, Known news);

 private:
  static constexpr std::size_t k_most_stages = 16;  ///< enough for 2^32 members
  /// Where a relay is.
  struct State {
    std::uint32_t begins_missing = 0;
    std::uint32_t stages = 0;                         ///< stages that have begun
    std::array<std::uint8_t, k_most_stages> heard{};  ///< news of each stage
  };

  void go_on(std::uint32_t number);
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
