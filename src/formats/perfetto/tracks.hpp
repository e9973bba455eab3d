// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/flat_map.hpp"

namespace entrain::perfetto {

/// Where a viewer shows events, as Chrome JSON would write it: numbers, or texts in quotes.
struct Row {
  std::string process, thread;
  std::uint32_t machine = 0;
};

/// Key of a track: its uuid, or for a queue of a device the numbers of both.
struct TrackKey {
  std::uint64_t number = 0;
  std::uint32_t machine = 0;
  bool is_queue = false;
  friend bool operator==(const TrackKey&, const TrackKey&) = default;
};

/// Memory that a track takes at most, bytes.
inline constexpr std::size_t k_track_memory = 512;

/// The tracks of a file. Descriptors may follow the events of their tracks, which most writers
/// avoid.
class Tracks {
 public:
  static constexpr std::uint32_t k_none = ~std::uint32_t{0};
  struct Track {
    enum class Kind : std::uint8_t { plain, process, thread };
    TrackKey key;
    std::uint64_t parent = 0;  ///< uuid; 0: none
    Kind kind = Kind::plain;
    bool is_disordered = false;  ///< its slices are not in order of time
    bool is_used = false;        ///< it has given a row
    std::int64_t process = 0, thread = 0;
    std::int64_t latest = std::numeric_limits<std::int64_t>::min();  ///< time of its slices, ns
    std::uint32_t row = k_none;                                      ///< once it was asked for
  };

  /// Number of a track, which is made if it is new.
  std::uint32_t add(const TrackKey& key);
  /// Number of a track; k_none if it is unknown.
  [[nodiscard]] std::uint32_t find(const TrackKey& key) const {
    const std::uint32_t* const number = numbers_.find(key);
    return number != nullptr ? *number : k_none;
  }
  /// Takes a descriptor. Throws protozero::exception.
  void describe(std::string_view descriptor, std::uint32_t machine);
  /// The row of a track: that of the thread, or else the process, around it.
  std::uint32_t row_of(std::uint32_t number);
  /// True for a thread, and for a track whose row is no thread or process around it. Requires a
  /// row.
  [[nodiscard]] bool has_own_row(std::uint32_t number) const;
  /// True if a descriptor came too late for a row.
  [[nodiscard]] bool is_late() const { return is_late_; }

  [[nodiscard]] std::size_t size() const { return tracks_.size(); }
  [[nodiscard]] Track& operator[](std::uint32_t number) { return tracks_[number]; }
  [[nodiscard]] const Track& operator[](std::uint32_t number) const { return tracks_[number]; }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

 private:
  struct HashOfKey {
    std::uint64_t operator()(const TrackKey& key) const {
      return mix(key.number + mix(std::uint64_t{key.machine} << 1 | (key.is_queue ? 1 : 0)));
    }
  };
  Row make_row(std::uint32_t number);

  FlatMap<TrackKey, std::uint32_t, HashOfKey> numbers_;
  std::vector<Track> tracks_;
  std::vector<Row> rows_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> row_numbers_;
  bool is_late_ = false;
};

}  // namespace entrain::perfetto
