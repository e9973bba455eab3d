// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

namespace entrain::trace {

/// Minimum latencies of messages between two machines, where they are known pair by pair. Machines
/// are numbered as in Definitions::node_of. The same both ways.
class PairMu {
 public:
  /// So many pairs at most: numbers of pairs fit into 16 bits. More are ignored.
  static constexpr std::size_t k_most = std::numeric_limits<std::uint16_t>::max();

  /// A value for a pair; the smaller one if it has one already. `ticks` >= 0.
  void add(std::uint32_t a, std::uint32_t b, std::int64_t ticks) {
    const auto known = of_.find(key(a, b));
    if (known != of_.end()) {
      known->second = std::min(known->second, ticks);
    } else if (of_.size() < k_most) {
      of_.emplace(key(a, b), ticks);
    }
  }
  /// The latency between two machines, ticks, but at least `least`, also for a pair without one.
  [[nodiscard]] std::int64_t of(std::uint32_t a, std::uint32_t b, std::int64_t least) const {
    const auto known = of_.find(key(a, b));
    return known == of_.end() ? least : std::max(least, known->second);
  }

  /// By pair of machines, the smaller number first; in order of these.
  using Key = std::pair<std::uint32_t, std::uint32_t>;
  [[nodiscard]] const std::map<Key, std::int64_t>& all() const { return of_; }
  [[nodiscard]] static Key key(std::uint32_t a, std::uint32_t b) { return std::minmax(a, b); }

 private:
  std::map<Key, std::int64_t> of_;
};

}  // namespace entrain::trace
