// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace entrain {

/// Sets of the numbers below a count, at first one number each. The smallest number of a set is its
/// name. Example: after join(2, 5) and join(5, 7), find(7) is 2.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
  }

  /// The set of `number`.
  std::uint32_t find(std::uint32_t number) {
    while (parent_[number] != number) number = parent_[number] = parent_[parent_[number]];
    return number;
  }
  /// Makes one set of those of `a` and `b`; false if they are one already.
  bool join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }
  /// The set of every number.
  std::vector<std::uint32_t> all() {
    for (std::uint32_t number = 0; number < parent_.size(); ++number) {
      parent_[number] = find(number);
    }
    return parent_;
  }

 private:
  std::vector<std::uint32_t> parent_;  ///< never larger than the number itself
};

}  // namespace entrain
