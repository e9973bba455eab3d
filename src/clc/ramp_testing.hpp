// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

#include "clc/backward.hpp"

namespace entrain::clc {

/// For messages of the test framework.
inline void PrintTo(const Bend& bend, std::ostream* out) {
  *out << '(' << bend.stamp << ", " << bend.displacement << ')';
}

}  // namespace entrain::clc

/// Helpers of the unit tests of ramps.
namespace entrain::clc::testing {

/// A node of a hand-made location.
struct RampNode {
  std::uint64_t stamp;
  std::int64_t lower = 0;
  bool jump = false;
  std::optional<std::int64_t> limit = std::nullopt;
};

/// The arrays of a hand-made location, behind some nodes of other locations.
struct RampArrays {
  std::vector<std::uint64_t> stamps;
  std::vector<std::int64_t> lower, limit;
  std::vector<bool> jump;
  ClockMap identity;

  explicit RampArrays(const std::vector<RampNode>& nodes, std::size_t others = 0)
      : jump(others, true) {
    for (const RampNode& node : nodes) {
      stamps.push_back(node.stamp);
      lower.push_back(node.lower);
      limit.push_back(node.limit.value_or(k_no_limit));
      jump.push_back(node.jump);
    }
  }
  /// Slope 0.01 and gamma 0.9, times as stored. Refers to this.
  [[nodiscard]] DisplacedLocation input(std::uint64_t first_stamp) const {
    DisplacedLocation input;
    input.stamps = stamps;
    input.lower = lower;
    input.limit = limit;
    input.jump = &jump;
    input.first_node = static_cast<NodeIndex>(jump.size() - stamps.size());
    input.presync_map = &identity;
    input.first_stamp = first_stamp;
    input.max_slope = {10'000'000};
    input.gamma = {900'000'000};
    return input;
  }
};

}  // namespace entrain::clc::testing
