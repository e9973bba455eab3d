// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/flat_map.hpp"
#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/message.hpp"

namespace entrain::perfetto {

/// A clock of a file: those of the system belong to a machine, others to a sequence of packets.
struct ClockKey {
  std::uint32_t machine = 0, sequence = 0, id = 0;
  friend bool operator==(const ClockKey&, const ClockKey&) = default;
};
ClockKey clock_key(std::uint32_t machine, std::uint32_t sequence, std::uint32_t id);

/// Time that a clock shows in a snapshot.
struct Reading {
  std::uint32_t clock = 0;
  std::int64_t value = 0;  ///< time in `unit`
  std::int64_t unit = 1;   ///< ns
  bool is_incremental = false;
  std::string_view message;  ///< message of the reading
  Value stored;              ///< stored form of `value`
};

/// Converts times of a file's clocks to the clock of the trace, as snapshots that precede them in
/// the file tell: by the latest reading before a time. Times wrap at 2^64 as those of viewers do. A
/// clock without a snapshot is taken for that of the trace.
class Clocks {
 public:
  /// Takes a snapshot of a sequence of packets.
  void add(std::uint32_t machine, std::uint32_t sequence, std::span<const Reading> readings);
  /// The clock of the trace, by which all times are told.
  void set_primary(std::uint32_t id) { primary_ = id; }
  [[nodiscard]] std::uint32_t primary() const { return primary_; }

  /// Time of a stored value, ns. Deltas count on from the last value of the clock.
  std::int64_t to_trace(const ClockKey& key, std::int64_t value);
  /// The value that to_trace() turns into this time, or the nearest one if there is none; deltas
  /// count on from the last result.
  std::int64_t from_trace(const ClockKey& key, std::int64_t time);
  /// Time of the trace at a snapshot that is not added yet.
  [[nodiscard]] std::int64_t time_of(std::uint32_t machine, std::uint32_t sequence,
                                     std::span<const Reading> readings) const;
  /// The largest unit of a clock that to_trace() was asked for, ns.
  [[nodiscard]] std::int64_t largest_unit() const { return largest_unit_; }
  /// Number of readings that are kept.
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Clock {
    std::int64_t unit = 1;
    bool is_incremental = false;
    std::int64_t last = 0;  ///< ns; deltas count from here
    /// Time by this clock and by that of the trace, ns.
    std::vector<std::pair<std::int64_t, std::int64_t>> readings{};

    [[nodiscard]] std::int64_t to_trace(std::int64_t ns) const;
    [[nodiscard]] std::int64_t from_trace(std::int64_t time) const;
  };
  struct HashOfKey {
    std::uint64_t operator()(const ClockKey& key) const {
      return mix(mix(std::uint64_t{key.machine} << 32 | key.sequence) + key.id);
    }
  };
  [[nodiscard]] Clock* find(const ClockKey& key) const;
  [[nodiscard]] std::optional<std::int64_t> told_time(std::uint32_t machine, std::uint32_t sequence,
                                                      std::span<const Reading> readings) const;

  std::uint32_t primary_ = k_boot_time;
  std::int64_t largest_unit_ = 1;
  std::size_t size_ = 0;
  FlatMap<ClockKey, std::uint32_t, HashOfKey> numbers_;
  mutable std::deque<Clock> clocks_;
};

}  // namespace entrain::perfetto
