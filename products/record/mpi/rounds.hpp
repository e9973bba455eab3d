// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace entrain::record {

/// Plans how the texts of many processes travel to one of them, or from it. Collective calls of MPI
/// count bytes with an int, but all texts together may be longer. So they travel in rounds: in each
/// round every process moves the next part of its own text.
///
/// Example: texts of 5, 0 and 3 bytes, and at most 6 bytes per call. A process moves 2 bytes per
/// round, so there are 3 rounds, with parts of {2, 0, 2}, {2, 0, 1} and {1, 0, 0} bytes.
class Rounds {
 public:
  /// Largest number of bytes in one call.
  static constexpr std::uint64_t k_limit = 1 << 30;

  /// For 1 to 2^30 `processes` with texts of at most `longest` bytes each.
  Rounds(std::uint64_t processes, std::uint64_t longest, std::uint64_t limit = k_limit)
      : share_(std::max<std::uint64_t>(limit / processes, 1)),
        count_((longest + share_ - 1) / share_) {}

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// Offset in a text at which its part for this round begins.
  [[nodiscard]] std::uint64_t begin(std::uint64_t round) const { return round * share_; }
  /// Bytes of a text of `length` bytes that travel in this round.
  [[nodiscard]] int part(std::uint64_t round, std::uint64_t length) const {
    const std::uint64_t done = std::min(begin(round), length);
    return static_cast<int>(std::min(length - done, share_));
  }
  /// The parts of all texts in one round, bytes, laid one after the other: `begins` are their
  /// offsets, `sum` is the end of the last one.
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
