// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "match/align_records.hpp"

namespace entrain::match {

inline constexpr int k_never = std::numeric_limits<int>::max() / 4;  ///< infinite cost, bits

/// Returns a - b modulo 2^64.
inline std::int64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

/// Returns |value|, also of the least value.
inline std::uint64_t magnitude(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? 0 - bits : bits;
}

/// The delays of the last 16 pairs of an alignment, and their lower median.
class Delays {
 public:
  static constexpr std::size_t k_most = 16;

  void add(std::int64_t delay, std::uint64_t time);
  [[nodiscard]] int count() const { return count_; }
  /// Lower median, ticks. Requires a delay.
  [[nodiscard]] std::int64_t median() const { return sorted_[(count_ - 1) / 2]; }
  /// Time from the oldest of them, ticks; 0 where times fall. Requires a delay.
  [[nodiscard]] std::uint64_t since(std::uint64_t time) const {
    return time - std::min(time, times_[count_ == int{k_most} ? next_ : 0]);
  }

 private:
  std::array<std::uint64_t, k_most> times_{};
  std::array<std::int64_t, k_most> latest_{}, sorted_{};
  int count_ = 0, next_ = 0;
};

struct Pair {
  std::int32_t send = -1, receive = -1;  ///< -1: before the first pair
  std::int64_t shift = 0;                ///< position of the receive - that of the send
};

/// Both sides of a channel, and the cost model of their alignment. Costs are in bits.
class Ends {
 public:
  Ends(const Side& sends, const Side& receives);

  [[nodiscard]] std::span<const EndRecord> sends() const { return sends_.records; }
  [[nodiscard]] std::span<const EndRecord> receives() const { return receives_.records; }
  [[nodiscard]] std::int32_t send_count() const {
    return static_cast<std::int32_t>(sends_.records.size());
  }
  [[nodiscard]] std::int32_t receive_count() const {
    return static_cast<std::int32_t>(receives_.records.size());
  }
  [[nodiscard]] std::int64_t delay(std::int32_t send, std::int32_t receive) const {
    return static_cast<std::int64_t>(receives_.records[receive].time - sends_.records[send].time);
  }
  [[nodiscard]] std::int64_t shift(std::int32_t send, std::int32_t receive) const {
    return std::int64_t{receives_.records[receive].position} - sends_.records[send].position;
  }
  [[nodiscard]] bool may_pair(std::int32_t send, std::int32_t receive) const {
    return match::may_pair(sends_.records[send], receives_.records[receive]);
  }
  /// True if both sides have positions: else shifts mean nothing.
  [[nodiscard]] bool has_positions() const {
    return sends_.facts.position > 0 && receives_.facts.position > 0;
  }

  /// True if only delays can contradict pairing the k-th ends: both sides have as many, which may
  /// belong together, of equal shifts, without gaps, and with other operations between them.
  [[nodiscard]] bool agree_in_order() const;

  /// True if a gap lies between two ends of a side; `after` == number of ends: end of the trace.
  [[nodiscard]] bool send_gap(std::int32_t before, std::int32_t after) const {
    return gap_between(sends_, send_gaps_, before, after);
  }
  [[nodiscard]] bool receive_gap(std::int32_t before, std::int32_t after) const {
    return gap_between(receives_, receive_gaps_, before, after);
  }

  [[nodiscard]] int delay_cost(const Delays& before, std::int32_t send, std::int32_t receive) const;
  /// Adds the delay of a pair.
  void add(std::int32_t send, std::int32_t receive, Delays& delays) const {
    delays.add(delay(send, receive), sends_.records[send].time);
  }
  /// Cost of the unpaired ends between two pairs, and of the change of shift.
  [[nodiscard]] int gap_cost(const Pair& from, std::int32_t send, std::int32_t receive,
                             std::int64_t shift) const;
  [[nodiscard]] int end_cost(const Pair& from) const {
    return gap_cost(from, send_count(), receive_count(),
                    std::int64_t{receives_.facts.position} - sends_.facts.position);
  }

  /// True if the next send and the next receive after `from` match at little cost.
  [[nodiscard]] bool is_regular(const Pair& from, const Delays& before) const;

 private:
  [[nodiscard]] static bool gap_between(const Side& side, const std::vector<std::uint32_t>& gaps,
                                        std::int32_t before, std::int32_t after) {
    const auto count = static_cast<std::int32_t>(side.records.size());
    if (after == count && side.facts.ends_in_gap) return true;
    return !gaps.empty() && gaps[std::min(after + 1, count)] != gaps[before + 1];
  }
  static std::vector<std::uint32_t> gaps_before(std::span<const EndRecord> records);
  [[nodiscard]] std::uint64_t find_scale() const;
  [[nodiscard]] std::uint64_t usual_change(std::int32_t send, std::int32_t receive) const;

  Side sends_, receives_;
  /// Element k + 1: number of gaps before end k or just before it. Empty without gaps.
  std::vector<std::uint32_t> send_gaps_, receive_gaps_;
  /// Usual change of delays from pair to pair, ticks; 0: not needed so far. Ends are for one
  /// thread.
  mutable std::uint64_t scale_ = 0;
};

/// Returns an alignment without pairs: ends that might have a partner are ambiguous, unless a gap
/// explains them.
Alignment all_ambiguous(const Side& sends, const Side& receives);

/// Adds the ends outside `pairs`, which increase, to Alignment::sends_in_gaps or receives_in_gaps
/// if the other side has a gap there, else to Alignment::lost.
void count_unpaired(const Ends& ends, const IndexPairs& pairs, Alignment& alignment);
/// The same for the pairs of the alignment. What gaps explain is not ambiguous.
void count_unpaired(const Side& sends, const Side& receives, Alignment& alignment);

}  // namespace entrain::match
