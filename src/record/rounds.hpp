// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace entrain::record {

/// Texts of many processes on their way to one, or from it, in collective calls of MPI, which count
/// bytes with an int. All texts together may be longer than that: so they go in rounds, in each of
/// which every process moves the next part of its own.
class Rounds {
 public:
  /// What one call may move, bytes.
  static constexpr std::uint64_t k_limit = 1 << 30;

  /// Of `processes` (1 to 2^30) with texts of at most `longest` bytes.
  Rounds(std::uint64_t processes, std::uint64_t longest, std::uint64_t limit = k_limit)
      : share_(std::max<std::uint64_t>(limit / processes, 1)),
        count_((longest + share_ - 1) / share_) {}

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// Where the part of round `round` begins in a text.
  [[nodiscard]] std::uint64_t begin(std::uint64_t round) const { return round * share_; }
  /// How much of a text of `length` bytes goes in round `round`.
  [[nodiscard]] int part(std::uint64_t round, std::uint64_t length) const {
    const std::uint64_t done = std::min(begin(round), length);
    return static_cast<int>(std::min(length - done, share_));
  }
  /// Parts of all texts, and where each lies behind those before it; the sum is the last one's end.
  struct Places {
    std::vector<int> parts, begins;
    int sum = 0;
  };
  [[nodiscard]] Places places(std::uint64_t round,
                              const std::vector<std::uint64_t>& lengths) const {
    Places places;
    for (const std::uint64_t length : lengths) {
      places.begins.push_back(places.sum);
      places.parts.push_back(part(round, length));
      places.sum += places.parts.back();
    }
    return places;
  }

 private:
  std::uint64_t share_, count_;
};

}  // namespace entrain::record
