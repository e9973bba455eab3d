// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <entrain/options.hpp>

#include "support/random_trace.hpp"
#include "trace/witness.hpp"

namespace entrain::test {

/// All edges with their ends by location and stamp, and what was left out.
struct Pairing {
  std::vector<TrueEdge> edges;
  std::map<std::string, std::int64_t> left;

  friend bool operator==(const Pairing&, const Pairing&) = default;
};

void showValue(const Pairing& pairing, std::ostream& out);

/// The edges of the corrector, found by a team of `count` threads. `witness`, if not null, gets
/// what all of them claim.
Pairing by_corrector(const trace::Trace& trace, bool dense_alltoallv, unsigned count,
                     trace::Witness* witness = nullptr);

/// The edges of the checker, found by a team of `count` threads. Claims are those of `witness`,
/// which may be of another copy of the trace, or of the matcher if it is null. Empty after an
/// error.
Pairing by_checker(const trace::Trace& trace, AlltoallvRule alltoallv, unsigned count,
                   const trace::Witness* witness = nullptr);

}  // namespace entrain::test
