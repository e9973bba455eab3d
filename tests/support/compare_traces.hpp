// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "trace/trace.hpp"

namespace entrain::test {

/// First difference of two sets of definitions as text; empty if there is none.
std::string difference(const trace::Definitions& a, const trace::Definitions& b);

/// First difference of two skeletons; empty if there is none. What the library does not tell is
/// left out: missing files, truncation. The order of events of one stamp counts.
std::string difference(const trace::LocationSkeleton& a, const trace::LocationSkeleton& b);

/// First difference of definitions and skeletons of two traces; empty if there is none.
std::string difference(const trace::Trace& a, const trace::Trace& b);

}  // namespace entrain::test
