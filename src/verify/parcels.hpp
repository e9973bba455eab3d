// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>

#include "base/team.hpp"
#include "verify/bytes.hpp"
#include "verify/outline.hpp"

namespace entrain::verify {

/// One side of a channel as it lies in a parcel: the key, then the corrected times of its events
/// in posting order, then the numbers of their instants. Of several locations, each location's are
/// in posting order.
class ChannelEnds {
 public:
  explicit ChannelEnds(const std::byte* at) : at_(at) {}

  [[nodiscard]] ChannelKey key() const { return load<ChannelKey>(at_); }
  [[nodiscard]] std::uint32_t count() const {
    return load<std::uint32_t>(at_ + sizeof(ChannelKey));
  }
  [[nodiscard]] std::int64_t time(std::size_t k) const {
    return load<std::int64_t>(at_ + k_head + k * sizeof(std::int64_t));
  }
  [[nodiscard]] std::uint32_t node(std::size_t k) const {
    return load<std::uint32_t>(at_ + k_head + count() * sizeof(std::int64_t) +
                               k * sizeof(std::uint32_t));
  }

  static constexpr std::size_t k_head = sizeof(ChannelKey) + sizeof(std::uint32_t);
  static constexpr std::size_t size(std::uint32_t count) {
    return k_head + std::size_t{count} * (sizeof(std::int64_t) + sizeof(std::uint32_t));
  }

 private:
  const std::byte* at_;
};

/// Sorts the ends at `at` by time; the earliest `unused` of them come last.
void sort_by_time(std::byte* at, std::size_t unused);

/// A call of a collective operation, as it travels.
struct CallRecord {
  std::int64_t begin_time = 0;  ///< corrected
  std::int64_t end_time = 0;
  std::uint32_t begin = k_none;  ///< number of the instant; k_none: not in the trace
  std::uint32_t end = 0;
  std::uint32_t root = 0;  ///< as stored
  std::uint8_t operation = 0;
  std::uint8_t flags = 0;  ///< trace::k_sent, k_received
  bool blocking = true;
  bool synchronises = true;  ///< processes, not only memory
};
static_assert(sizeof(CallRecord) == 32);

/// Instances in a row whose calls meet at one home: few enough that the largest communicator is
/// spread over all members.
inline constexpr std::uint32_t k_block = 64;

/// Head of the calls of one process in one block of ordinals of a space, in a parcel.
struct CallsHead {
  SpaceIndex space = k_none;
  std::uint32_t block = 0;  ///< the first call has the ordinal block * k_block
  std::uint32_t process = k_none;
  Seat seat;
  std::uint32_t count = 0;
};

/// Writes what processes take part in into parcels: sends to the owner of the receiver, receives
/// to the caller itself, calls to the homes of their blocks.
class Parcels {
 public:
  /// `limits`: per space, how many instances can be complete; further calls stay here.
  Parcels(const Team& team, const trace::Trace& trace, const Places& places,
          std::span<const ClockMap> maps, std::span<const std::uint32_t> limits);

  /// Writes all processes and frees their outlines.
  void write(std::vector<Outline>&& outlines);

  std::vector<Team::Bytes>& sends() { return sends_; }
  std::vector<Team::Bytes>& calls() { return calls_; }
  Team::Bytes& receives() { return receives_; }

 private:
  void reserve(const std::vector<Outline>& outlines);
  void write_posts(Outline& outline);
  void write_calls(Outline& outline);
  [[nodiscard]] std::uint32_t home(SpaceIndex space, std::uint32_t block) const;
  [[nodiscard]] std::uint32_t limit(const Outline::Column& column) const;

  std::uint32_t members_;
  const trace::Trace& trace_;
  const Places& places_;
  std::span<const ClockMap> maps_;
  std::span<const std::uint32_t> limits_;
  std::vector<Team::Bytes> sends_, calls_;  ///< by member
  Team::Bytes receives_;
  std::vector<std::byte*> next_send_, next_call_;  ///< by member
  std::byte* next_receive_ = nullptr;
};

}  // namespace entrain::verify
