// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/big_vector.hpp"
#include "base/cancel.hpp"
#include "base/team.hpp"
#include "verify/edges.hpp"
#include "verify/event_times.hpp"
#include "verify/outline.hpp"
#include "verify/places.hpp"
#include "verify/traits.hpp"

namespace entrain::verify {

/// Name of one side of a channel, and its number of ends.
struct ChannelHead {
  ChannelKey key;
  std::uint32_t count = 0;
  std::uint64_t symbols = 0;  ///< hash of the symbols of its ends in posting order

  friend bool operator==(const ChannelHead&, const ChannelHead&) = default;
};

/// Sides of channels for one member, head by head. Times and instants are two arrays: pairs would
/// take 16 bytes per end instead of 12.
struct ChannelParcel {
  std::vector<ChannelHead> heads;
  BigVector<std::int64_t> times;      ///< corrected, ticks; in posting order
  BigVector<std::uint32_t> instants;  ///< numbers in the process of this side
};

/// Sends parcels[r] to member r and puts the one from member r in its place. Collective.
void exchange_parcels(Team& team, std::vector<ChannelParcel>& parcels);

/// The ends of one side of a channel, inside a parcel: in posting order, or sorted by time where
/// threads share a side of synchronisations.
struct ChannelSide {
  std::int64_t* times = nullptr;
  std::uint32_t* instants = nullptr;
};

/// Both sides of a channel: the k-th send belongs to the k-th receive, for k < pairs. Unmatched
/// ends of messages are removed.
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

/// State of a trace whose records may be missing.
struct Missing {
  const Places& places;
  const TraitRows* rows = nullptr;  ///< null: no message is missing
  bool any = false;                 ///< messages or collective calls are missing
};

/// Times of a message, by the recorded clocks of its two processes.
struct Delivery {
  std::uint64_t arrived = 0, sent = 0;
};
/// Messages per (receiving process of this member, sending process), unsorted.
using Deliveries = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Delivery>>;

/// The channels whose two sides met at this member, which owns their receiving processes.
class Channels {
 public:
  Channels() = default;
  /// `sends`: from all members; `receives`: of this one. Nothing is paired yet. O(c log c) for c
  /// channels.
  Channels(std::vector<ChannelParcel>&& sends, ChannelParcel&& receives);

  /// True if every channel of messages has as many sends as receives, with equal symbols in order.
  [[nodiscard]] bool complete() const;

  /// Pairs the k-th send of each channel with its k-th receive; if records are missing, aligns
  /// messages (align_rows()) and pairs no synchronisations. Counts matched and unmatched ends. Call
  /// it once. O(n) for n ends; stops early if cancelled.
  void pair(const Missing& where, LeftOut& counts, const Cancel& cancel);

  /// Returns the paired messages if messages are missing outside gaps. Call it once, after pair().
  [[nodiscard]] Deliveries take_deliveries() { return std::move(deliveries_); }

  /// True if times decided about pairs: of synchronisations, or of messages if some are missing.
  /// Valid after pair().
  [[nodiscard]] bool depend_on_times() const { return depend_on_times_; }

  /// Replaces the times of the ends by those of other maps. Call it after pair(), and only if times
  /// did not decide.
  void set_times(const TimeSource& source);

  /// Channels sorted by key. Valid after pair().
  [[nodiscard]] std::span<const MatchedChannel> all() const { return channels_; }

 private:
  /// Side of a channel before pairing.
  struct OpenSide {
    ChannelHead head;
    ChannelSide ends;
  };
  static void append_sides(ChannelParcel& parcel, std::vector<OpenSide>& sides);
  MatchedChannel match_messages(const Places& places, const OpenSide& sends,
                                const OpenSide& receives, const TraitRows* rows, LeftOut& counts);
  MatchedChannel match_synchronisations(const Places& places, const OpenSide& sends,
                                        const OpenSide& receives);
  static bool is_shared(const Places& places, std::uint32_t process, const OpenSide& side);
  static void sort_by_time(const OpenSide& side, std::size_t unused);

  std::vector<ChannelParcel> sends_;
  ChannelParcel receives_;
  std::vector<OpenSide> sent_, received_;  ///< sorted by key, empty after pair()
  std::vector<MatchedChannel> channels_;   ///< views into the parcels
  Deliveries deliveries_;
  bool depend_on_times_ = false;
};

}  // namespace entrain::verify
