// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/align.hpp>

namespace entrain::engine {

/// True if both have the same edges and instances in the same order, with the same times.
bool same_edges(const Edges& a, const Edges& b);

}  // namespace entrain::engine
