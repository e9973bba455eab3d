// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "match/align.hpp"

namespace entrain::match {

inline constexpr int k_never = std::numeric_limits<int>::max() / 4;  ///< a cost

/// a - b, also for stamps so far apart that the difference wraps.
inline std::int64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

/// |value|, also of the least one.
inline std::uint64_t magnitude(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? 0 - bits : bits;
}

/// The delays of the last 16 pairs of an explanation, and their lower middle.
class Delays {
 public:
  static constexpr std::size_t k_most = 16;

  void add(std::int64_t delay);
  [[nodiscard]] int count() const { return count_; }
  /// The lower middle. Not to be called without delays.
  [[nodiscard]] std::int64_t usual() const { return sorted_[(count_ - 1) / 2]; }

 private:
  std::array<std::int64_t, k_most> latest_{}, sorted_{};
  int count_ = 0, next_ = 0;
};

/// A pair of an explanation.
struct Pair {
  std::int32_t send = -1, receive = -1;  ///< -1: before the first pair
  std::int64_t shift = 0;                ///< position of the receive - that of the send
};

/// Both sides of a channel, and what explanations of them pay. Costs are in bits.
class Ends {
 public:
  Ends(const Side& sends, const Side& receives);

  [[nodiscard]] std::span<const Trait> sends() const { return sends_.traits; }
  [[nodiscard]] std::span<const Trait> receives() const { return receives_.traits; }
  [[nodiscard]] std::int32_t send_count() const {
    return static_cast<std::int32_t>(sends_.traits.size());
  }
  [[nodiscard]] std::int32_t receive_count() const {
    return static_cast<std::int32_t>(receives_.traits.size());
  }
  [[nodiscard]] std::int64_t delay(std::int32_t send, std::int32_t receive) const {
    return static_cast<std::int64_t>(receives_.traits[receive].time - sends_.traits[send].time);
  }
  [[nodiscard]] std::int64_t shift(std::int32_t send, std::int32_t receive) const {
    return std::int64_t{receives_.traits[receive].position} - sends_.traits[send].position;
  }
  [[nodiscard]] bool equal_symbols(std::int32_t send, std::int32_t receive) const {
    return sends_.traits[send].symbol == receives_.traits[receive].symbol;
  }
  /// True if both processes count the operations of each other's: else positions tell nothing.
  [[nodiscard]] bool positions() const { return sends_.position > 0 && receives_.position > 0; }

  /// True if nothing but delays can speak against pairing the ends in order: there are as many on
  /// both sides, of equal symbols, without gaps, and with other operations between them, in step.
  [[nodiscard]] bool agree_in_order() const;

  /// True if a gap lies between two ends of a side; `after` may be the number of ends, for the end
  /// of the trace.
  [[nodiscard]] bool send_gap(std::int32_t before, std::int32_t after) const {
    return gap_between(sends_, send_gaps_, before, after);
  }
  [[nodiscard]] bool receive_gap(std::int32_t before, std::int32_t after) const {
    return gap_between(receives_, receive_gaps_, before, after);
  }

  /// Of a delay after others.
  [[nodiscard]] int delay_cost(const Delays& before, std::int64_t delay) const;
  /// Of the ends that are left out between two pairs, and of a changed shift.
  [[nodiscard]] int gap_cost(const Pair& from, std::int32_t send, std::int32_t receive,
                             std::int64_t shift) const;
  [[nodiscard]] int end_cost(const Pair& from) const {
    return gap_cost(from, send_count(), receive_count(),
                    std::int64_t{receives_.position} - sends_.position);
  }

  /// True if nothing is odd about the pair that follows `from` at once.
  [[nodiscard]] bool is_plain(const Pair& from, const Delays& before) const;

 private:
  [[nodiscard]] static bool gap_between(const Side& side, const std::vector<std::uint32_t>& gaps,
                                        std::int32_t before, std::int32_t after) {
    const auto count = static_cast<std::int32_t>(side.traits.size());
    if (after == count && side.ends_in_gap) return true;
    return !gaps.empty() && gaps[std::min(after + 1, count)] != gaps[before + 1];
  }
  static std::vector<std::uint32_t> gaps_before(std::span<const Trait> traits);
  [[nodiscard]] std::uint64_t find_scale() const;
  [[nodiscard]] std::uint64_t usual_change(std::int32_t send, std::int32_t receive) const;

  Side sends_, receives_;
  /// Element k + 1: gaps before or at end k; so a difference counts gaps between two ends. Empty if
  /// there are none.
  std::vector<std::uint32_t> send_gaps_, receive_gaps_;
  std::uint64_t scale_ = 1;  ///< by how much delays usually change
};

/// What is known if no end can be told from others: those that might have a partner are ambiguous,
/// unless a gap explains them.
Alignment nothing_certain(const Side& sends, const Side& receives);

/// Sets Alignment::lost and in_gaps: every end between two of `likely`, which increase, is lost or
/// in a gap of the other side.
void count_left_out(const Ends& ends,
                    std::span<const std::pair<std::uint32_t, std::uint32_t>> likely,
                    Alignment& alignment);

}  // namespace entrain::match
