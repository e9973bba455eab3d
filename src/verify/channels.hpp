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

/// The name of one side of a channel, and how many ends it has.
struct ChannelHead {
  ChannelKey key;
  std::uint32_t count = 0;
  std::uint64_t symbols = 0;  ///< a code of Outline::Post::symbol of its ends, in posting order

  friend bool operator==(const ChannelHead&, const ChannelHead&) = default;
};

/// Sides of channels that travel to one member: the ends of the first head, then those of the
/// second one, and so on. Times and instants are two arrays, as one array of pairs would take 16
/// bytes per end instead of 12.
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

/// Both sides of a channel: the k-th send belongs to the k-th receive, for k < pairs. Ends of
/// messages without partner are left out.
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

/// What is known of a trace of which records may be missing.
struct Missing {
  const Places& places;
  const TraitRows* rows = nullptr;  ///< null: no message is missing
  bool any = false;                 ///< messages or collective calls are
};

/// A message, by the clocks of its two processes as their records show them.
struct Delivery {
  std::uint64_t arrived = 0, sent = 0;
};
/// By receiving process of this member and sending process: what was delivered, in any order.
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

  /// Pairs the k-th send of each channel with its k-th receive; where records are missing, messages
  /// as align_rows() does, and no synchronisations. Counts the ends that have a partner or none. To
  /// be called once. O(n) for n ends; stops early when `cancel` asks for it.
  void pair(const Missing& where, LeftOut& counts, const Cancel& cancel);

  /// After pair(), where messages are missing, and not in gaps only: those that were paired. Once.
  [[nodiscard]] Deliveries take_deliveries() { return std::move(deliveries_); }

  /// True if times decided which synchronisations belong together, and not their order alone; of
  /// messages they may where any are missing. After pair().
  [[nodiscard]] bool depend_on_times() const { return depend_on_times_; }

  /// Gives the ends the times of the same events by other maps. After pair(), unless times decided.
  void set_times(const TimeSource& source);

  /// In order of their keys. After pair().
  [[nodiscard]] std::span<const MatchedChannel> all() const { return channels_; }

 private:
  /// One side of a channel, not paired yet.
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
  std::vector<OpenSide> sent_, received_;  ///< in order of their keys; until pair()
  std::vector<MatchedChannel> channels_;   ///< they point into the parcels
  Deliveries deliveries_;
  bool depend_on_times_ = false;
};

}  // namespace entrain::verify
