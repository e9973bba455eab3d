// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "formats/perfetto/packet_writer.hpp"

namespace entrain::perfetto {

/// A track to be described.
struct TrackText {
  static constexpr std::uint32_t k_none = ~std::uint32_t{0};
  std::uint32_t parent = k_none;  ///< position of the track around it
  std::string name{};
  std::string fields{};    ///< further fields of its description, encoded
  bool is_scoped = false;  ///< belongs to a process or thread; a further lane of it is its child
};

/// Writes slices, instants and counters of tracks, each track in order of time; of equal times
/// slices come first, those that end later before the others.
///
/// Slices of a track must nest. One that does not goes to the first of further tracks, its lanes,
/// on which it does. The begin of a slice is kept back until the next event of its track, so that
/// ends of arrows can join it.
class TrackWriter {
 public:
  /// End of a slice that never ends.
  static constexpr std::int64_t k_never = std::numeric_limits<std::int64_t>::max();
  /// Describes all tracks; number i has the uuid `first_uuid` + i, and lanes follow.
  TrackWriter(PacketWriter& packets, std::uint64_t first_uuid,
              const std::vector<TrackText>& tracks);

  /// A slice. `at_end`: fields of its end. Where all lanes are taken it becomes an instant.
  void slice(std::uint32_t track, std::int64_t begin, std::int64_t end, std::string_view fields,
             std::string_view at_end);
  void instant(std::uint32_t track, std::int64_t time, std::string_view fields);
  void counter(std::uint32_t track, std::int64_t time, std::string_view fields);
  /// An end of an arrow: joins the slice that began last on this track, if it began at this time
  /// and `joined` is not empty; else it is an instant.
  void arrow_end(std::uint32_t track, std::int64_t time, std::string_view fields,
                 std::string_view joined);
  /// Ends all slices.
  void finish();

  struct Counts {
    std::uint64_t slices = 0, unfinished = 0, instants = 0, counters = 0, arrow_ends = 0;
    std::uint64_t lanes = 0;  ///< further ones
    std::uint64_t cut = 0;    ///< slices that became instants
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct Open {
    std::int64_t end = 0;
    std::string at_end;
  };
  struct Lane {
    std::uint64_t uuid = 0;
    std::vector<Open> open;
  };
  struct Track {
    std::vector<Lane> lanes;
    bool is_pending = false;  ///< the begin of a slice is kept back
    std::uint64_t uuid = 0;   ///< its lane
    std::int64_t time = 0;
    std::string fields;
  };
  void event(std::uint64_t uuid, std::int64_t time, std::int32_t type, std::string_view fields);
  void flush(Track& track);
  void settle(Lane& lane, std::int64_t time);
  Lane* lane_for(std::uint32_t track, std::int64_t begin, std::int64_t end);

  PacketWriter& packets_;
  const std::vector<TrackText>& texts_;
  std::uint64_t first_, next_;  ///< uuids
  std::vector<Track> tracks_;
  Counts counts_;
};

}  // namespace entrain::perfetto
