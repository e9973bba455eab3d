// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include <entrain/progress.hpp>

namespace entrain::trace {

/// Reports to `progress`, which may be null, the begin of a phase in which nothing is counted.
inline void begin_phase(Progress* progress, std::string_view phase) {
  if (progress != nullptr) progress->begin(phase, 0, {});
}

}  // namespace entrain::trace
