// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/big_vector.hpp"

namespace entrain {

/// A set of numbers below a bound that knows how many of its elements are smaller than a number.
/// Takes two bits per number of the bound; every question costs O(1). Not thread safe while it
/// changes. Example: after set(3), set(9) and seal(), rank(9) is 1 and rank(10) is 2.
class RankedBits {
 public:
  RankedBits() = default;
  explicit RankedBits(std::size_t bound) : blocks_(bound / 64 + 1) {}

  void set(std::size_t i) { blocks_[i / 64].bits |= bit(i); }
  [[nodiscard]] bool test(std::size_t i) const { return (blocks_[i / 64].bits & bit(i)) != 0; }

  /// Counts the members. To be called after the last set() and before the first rank().
  void seal() {
    std::size_t count = 0;
    for (Block& block : blocks_) {
      block.before = count;
      count += static_cast<std::size_t>(std::popcount(block.bits));
    }
    count_ = count;
  }
  /// Members after seal().
  [[nodiscard]] std::size_t count() const { return count_; }
  /// Members below i; i at most the bound.
  [[nodiscard]] std::size_t rank(std::size_t i) const {
    const Block& block = blocks_[i / 64];
    return block.before + static_cast<std::size_t>(std::popcount(block.bits & (bit(i) - 1)));
  }

 private:
  struct Block {
    std::uint64_t bits = 0;
    std::size_t before = 0;
  };
  static std::uint64_t bit(std::size_t i) { return std::uint64_t{1} << i % 64; }

  BigVector<Block> blocks_;
  std::size_t count_ = 0;
};

}  // namespace entrain
