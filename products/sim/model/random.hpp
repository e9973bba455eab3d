// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>

#include "base/random.hpp"

namespace entrain::sim {

using entrain::RandomStream;

/// A number above 0 with mean 1 and the tail of an exponential distribution: staircase density
/// that halves from step to step. No function of the C library, whose last bit may differ.
inline double tailed(std::uint64_t bits) {
  const auto step = static_cast<double>(std::countl_zero(bits | 1));
  const double within = static_cast<double>(bits & 0xFFFFF) * 0x1p-20;
  return (step + within) * (2.0 / 3);
}

}  // namespace entrain::sim
