// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

#include <entrain/options.hpp>
#include <entrain/report.hpp>

namespace entrain::test {

/// The result of the verifier for one kind of edges.
struct VerifiedEdges {
  std::uint64_t count = 0;
  std::uint64_t violations = 0;     ///< LC(r) < LC(s)
  std::uint64_t below_latency = 0;  ///< LC(r) < LC(s) + mu; mu is 0 inside a cycle

  friend bool operator==(const VerifiedEdges&, const VerifiedEdges&) = default;
};
using VerifiedKinds = std::array<VerifiedEdges, k_edge_kinds>;

/// Tests the clock condition with the OTF2 library alone (docs/method.md, section 2): events,
/// stored stamps and corrected times are what it returns, matching goes by maps, and every pair of
/// every collective is looked at by itself. Slow, plain, and without a line of the product's code
/// that scans, evaluates clocks, matches or checks.
///
/// Only alltoallv and init_finalize of `options` matter. Throws std::runtime_error as
/// library_trace does.
VerifiedKinds verify_with_library(const std::filesystem::path& anchor, const CheckOptions& options,
                                  const MuTicks& mu);

}  // namespace entrain::test
