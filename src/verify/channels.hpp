// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/team.hpp"
#include "verify/edges.hpp"
#include "verify/outline.hpp"
#include "verify/places.hpp"

namespace entrain::verify {

/// The name of one side of a channel, and how many ends it has.
struct ChannelHead {
  ChannelKey key;
  std::uint32_t count = 0;
};

/// Sides of channels that travel to one member: the ends of the first head, then those of the
/// second one, and so on. Times and instants are two arrays, as one array of pairs would take 16
/// bytes per end instead of 12.
struct ChannelParcel {
  std::vector<ChannelHead> heads;
  std::vector<std::int64_t> times;      ///< corrected, ticks; in posting order
  std::vector<std::uint32_t> instants;  ///< numbers in the process of this side
};

/// Sends parcels[r] to member r and puts the one from member r in its place. Collective.
void exchange_parcels(Team& team, std::vector<ChannelParcel>& parcels);

/// The ends of one side of a channel, inside a parcel: in posting order, or sorted by time where
/// threads share a side of synchronisations.
struct ChannelSide {
  std::int64_t* times = nullptr;
  std::uint32_t* instants = nullptr;
};

/// Both sides of a channel: the k-th send belongs to the k-th receive, for k < pairs.
struct MatchedChannel {
  ChannelKey key;
  std::uint32_t pairs = 0;
  ChannelSide sends, receives;

  [[nodiscard]] EdgeKind kind() const {
    return key.stage == Stage::message ? EdgeKind::p2p : EdgeKind::rma;
  }
  [[nodiscard]] EdgeOrder order(std::uint64_t k) const {
    return {static_cast<std::uint64_t>(key.stage), std::uint64_t{key.sender} << 32 | key.receiver,
            std::uint64_t{key.space} << 32 | key.tag, k};
  }
  [[nodiscard]] std::int64_t send_time(std::size_t k) const { return sends.times[k]; }
  [[nodiscard]] std::int64_t receive_time(std::size_t k) const { return receives.times[k]; }
};

/// The channels whose two sides met at this member, which owns their receiving processes.
class Channels {
 public:
  Channels() = default;
  /// `sends`: from all members; `receives`: of this one. Counts the ends that have no partner.
  /// O(n + c log c) for n ends and c channels.
  Channels(const Places& places, std::vector<ChannelParcel>&& sends, ChannelParcel&& receives,
           Unmatched& unmatched);

  /// In order of their keys.
  [[nodiscard]] std::span<const MatchedChannel> all() const { return channels_; }

 private:
  std::vector<ChannelParcel> sends_;
  ChannelParcel receives_;
  std::vector<MatchedChannel> channels_;  ///< they point into the parcels
};

}  // namespace entrain::verify
