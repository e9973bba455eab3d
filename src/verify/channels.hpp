// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/big_vector.hpp"
#include "base/cancel.hpp"
#include "base/team.hpp"
#include "trace/witness.hpp"
#include "verify/claims.hpp"
#include "verify/edges.hpp"
#include "verify/event_times.hpp"
#include "verify/outline.hpp"
#include "verify/places.hpp"

namespace entrain::verify {

/// Name of one side of a channel, and its number of ends.
struct ChannelHead {
  ChannelKey key;
  std::uint32_t count = 0;
  std::uint64_t symbols = 0;  ///< hash of the symbols of its ends in posting order

  friend bool operator==(const ChannelHead&, const ChannelHead&) = default;
};

using ChannelHeads = std::vector<ChannelHead>;

/// Ends of the sides of some ChannelHeads, head by head. Times and instants are two arrays: pairs
/// would take 16 bytes per end instead of 12.
struct ChannelParcel {
  BigVector<std::int64_t> times;      ///< corrected, ticks; in posting order
  BigVector<std::uint32_t> instants;  ///< numbers in the process of this side
  BigVector<EndFacts> facts;          ///< empty: no message is missing
};

/// The ends of one side of a channel, inside a parcel: in posting order, or sorted by time where
/// threads share a side of synchronisations.
struct ChannelSide {
  std::int64_t* times = nullptr;
  std::uint32_t* instants = nullptr;
  EndFacts* facts = nullptr;  ///< null: no message is missing, or the channel is paired
};

/// Side of a channel before pairing.
struct OpenSide {
  ChannelHead head;
  ChannelSide ends;
  std::size_t parcel = 0, first = 0;  ///< its parcel, and its first end there
};

/// Both sides of a channel: the k-th send belongs to the k-th receive, for k < pairs. Unmatched
/// ends of messages are removed.
struct MatchedChannel {
  ChannelKey key;
  std::uint32_t pairs = 0;
  std::uint32_t both = 0;  ///< ends that each side had before that
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
  /// Lists the channels of this member's outlines: sends go to the member that owns the receiving
  /// process, receives stay here. They have no ends yet. Collective. O(c log c) for c channels.
  Channels(Team& team, const Places& places, std::span<const Outline> outlines);

  /// True if every channel of messages has as many sends as receives, with equal symbols in order.
  [[nodiscard]] bool complete() const;

  /// Exchanges the ends, and frees the posts of the same outlines one by one. `with_facts`: 24 more
  /// bytes per end, if messages are missing. Collective. Linear. Call it before pair().
  void exchange_ends(Team& team, const TimeSource& source, std::span<Outline> outlines,
                     bool with_facts);

  /// Pairs the k-th send of each channel with its k-th receive. If messages are missing, verifies
  /// the claims of the witness and pairs accordingly; channels without a claim must be complete to
  /// have pairs. Where anything is missing, pairs no synchronisations. Counts matched and unmatched
  /// ends. Call it once. O(n) for n ends; stops early if cancelled. ErrorKind::internal if a claim
  /// does not hold.
  Result<void> pair(const Records& records, LeftOut& counts, const Cancel& cancel);

  /// Replaces the times of the ends by those of other maps. Call it after pair().
  void set_times(const TimeSource& source);

  /// Channels sorted by key. Valid after pair().
  [[nodiscard]] std::span<const MatchedChannel> all() const { return channels_; }

 private:
  std::vector<ChannelParcel> sends_, receives_;
  std::vector<OpenSide> sent_, received_;  ///< sorted by key, empty after pair()
  std::vector<MatchedChannel> channels_;   ///< views into the parcels
};

}  // namespace entrain::verify
