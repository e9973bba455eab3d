// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "trace/share.hpp"
#include "verify/alignment.hpp"
#include "verify/gap_table.hpp"
#include "verify/outline.hpp"
#include "verify/places.hpp"

namespace entrain::verify {

/// The name of one side of a channel of messages, and all of its Row but the traits.
struct TraitHead {
  ChannelKey key;
  std::uint32_t count = 0;
  std::uint32_t position = 0;
  std::uint32_t ahead_of_gaps = 0;  ///< leading ends before all gaps of the process
  std::uint32_t ordinals = 0;       ///< as Ordinals::count
  std::uint32_t stops = 0;          ///< their number
  std::uint32_t kinds = 0, trust = 0;
  bool ends_in_gap = false;
};

/// Sides of channels that travel to one member: the traits of the first head, then those of the
/// second one, and so on; the stops likewise.
struct TraitParcel {
  std::vector<TraitHead> heads;
  std::vector<Trait> traits;
  std::vector<std::uint32_t> places;    ///< per trait, as Row::places
  std::vector<std::uint32_t> ordinals;  ///< per trait, as Ordinals::of
  std::vector<Stop> stops;
};

/// What a process did, as far as it tells which of its calls have no record.
struct Conduct {
  /// The blocking calls on a communicator, or those on a window.
  struct Calls {
    std::vector<std::pair<LocationIndex, std::uint64_t>> ends;  ///< with their stamps, in order
    std::vector<Stop> stops;                                    ///< as Ordinals::stops
    std::vector<std::uint64_t> unlisted;  ///< per call without a record: the stamp of the next deed
    std::uint32_t stops_before = 0;       ///< of the process, up to the last call
  };

  bool firm = false;                   ///< Habit::firm
  std::uint32_t kinds = 0, trust = 0;  ///< as in Ordinals
  /// By partner: the stamps at which messages were posted, in order; of one without a record that
  /// of the next deed.
  std::map<std::uint32_t, std::vector<std::uint64_t>> messages;
  std::map<SpaceIndex, Calls> calls;
};
/// `outline`: its messages. O(n log n).
Conduct conduct_of(const GapTable& gaps, Outline&& outline);

/// The traits of the ends of messages in the Channels of this member, in the order of the habits of
/// their processes (find_habit()), or else in posting order. Displaced ends whose place is not
/// found are left out. Made only if records may be missing.
///
/// Trait::position counts what its process did before: the messages with the same other process,
/// sent and received, but not those on the same side of the same channel; and the blocking
/// collectives on the communicator.
///
/// Example: process 0 sends to process 1 with tags 5, 6 and 5, makes a barrier, and sends with tag
/// 5 again. The positions on the channel of tag 5 are 0, 1 and 2, and 2 at the end of the trace.
class TraitRows {
 public:
  /// Walks once more through the messages of this member and sends traits to the owners of the
  /// receivers. Collective. O(n log n).
  explicit TraitRows(const GapTable& gaps);

  /// True if messages are missing in gaps only, for all that is known: channels between processes
  /// without gaps are complete, and on others the symbols ahead of the gaps agree. Then the ends
  /// ahead of them are whole in all rows. The same at every member.
  [[nodiscard]] bool only_gaps() const { return only_gaps_; }

  /// By process of this member that calls collectives: its conduct. Once.
  [[nodiscard]] std::map<std::uint32_t, Conduct> take_conducts() { return std::move(conducts_); }

  /// One side of a channel; an empty one if it has no end.
  [[nodiscard]] Row sends(const ChannelKey& key) const { return find(sends_, key); }
  [[nodiscard]] Row receives(const ChannelKey& key) const { return find(receives_, key); }

 private:
  struct Side {
    TraitHead head;
    const Trait* first = nullptr;
    const std::uint32_t *places = nullptr, *ordinals = nullptr;
    const Stop* stops = nullptr;
  };
  static void append_sides(const TraitParcel& parcel, std::vector<Side>& sides);
  [[nodiscard]] bool gaps_suffice(const GapTable& gaps) const;
  [[nodiscard]] Row find(const std::vector<Side>& sides, const ChannelKey& key) const;

  std::vector<TraitParcel> sent_;  ///< by member
  TraitParcel received_;
  std::vector<Side> sends_, receives_;  ///< by key; they point into the parcels
  std::map<std::uint32_t, Conduct> conducts_;
  bool only_gaps_ = false;
};

}  // namespace entrain::verify
