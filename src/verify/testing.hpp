// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "trace/testing.hpp"
#include "verify/check.hpp"

/// Hand-made traces for the tests of this folder.
namespace entrain::verify::testing {

/// A hand-made trace that can be checked.
class TraceBuilder : public trace::testing::TraceBuilder {
 public:
  using trace::testing::TraceBuilder::TraceBuilder;

  /// Checks with the identity as clock map of every location.
  [[nodiscard]] CheckReport check(const CheckOptions& options = {}, const MuTicks& mu = {}) const {
    const std::vector<ClockMap> maps(trace().locations.size());
    return verify::check(trace(), maps, options, mu, nullptr);
  }
};

inline const EdgeStatistics& edges(const CheckReport& report, EdgeKind kind) {
  return report.edges[static_cast<std::size_t>(kind)];
}

/// Value of a counter; 0 if it is not there.
inline std::uint64_t count(const Counters& counters, std::string_view name) {
  for (const auto& [key, value] : counters) {
    if (key == name) return value;
  }
  return 0;
}

}  // namespace entrain::verify::testing
