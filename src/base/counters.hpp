// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>

#include <entrain/report.hpp>

namespace entrain {

/// The counts above 0, in their order.
inline Counters nonzero(std::initializer_list<std::pair<const char*, std::int64_t>> counts) {
  Counters counters;
  for (const auto& [name, value] : counts) {
    if (value > 0) counters.emplace_back(name, static_cast<std::uint64_t>(value));
  }
  return counters;
}

}  // namespace entrain
