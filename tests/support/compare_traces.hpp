// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "trace/trace.hpp"

namespace entrain::test {

/// First difference of two sets of definitions as text; empty if there is none.
std::string difference(const trace::Definitions& a, const trace::Definitions& b);

/// First difference of two skeletons; empty if there is none. Counters of missing files, which
/// the library does not tell, are left out.
std::string difference(const trace::LocationSkeleton& a, const trace::LocationSkeleton& b);

}  // namespace entrain::test
