// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <entrain/options.hpp>

#include "support/random_trace.hpp"

namespace entrain::test {

/// All edges with their ends by location and stamp, and what was left out.
struct Pairing {
  std::vector<TrueEdge> edges;
  std::map<std::string, std::int64_t> left;

  friend bool operator==(const Pairing&, const Pairing&) = default;
};

void showValue(const Pairing& pairing, std::ostream& out);

/// The edges of the corrector, found by a team of `count` threads.
Pairing by_corrector(const trace::Trace& trace, bool dense_alltoallv, unsigned count);

/// The edges of the checker, found by a team of `count` threads.
Pairing by_checker(const trace::Trace& trace, AlltoallvRule alltoallv, unsigned count);

}  // namespace entrain::test
