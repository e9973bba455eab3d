// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace entrain {

/// Random numbers of one stream; seed and stream number name it. The k-th number depends on the two
/// and on k only (splitmix64 of a counter), so it is the same on every machine and with any number
/// of threads; the distributions of <random> are not.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream)
      : counter_(mixed(mixed(seed + k_step) ^ (stream * k_step))) {}

  std::uint64_t next() { return mixed(counter_ += k_step); }

  /// Uniform in [low, high), 53 random bits.
  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(next() >> 11) * 0x1p-53);
  }

  /// Uniform from 0 to count - 1, but for a bias below 2^-32 * count; 0 < count < 2^32.
  std::uint64_t below(std::uint64_t count) { return ((next() >> 32) * count) >> 32; }

 private:
  static constexpr std::uint64_t k_step = 0x9E3779B97F4A7C15u;

  /// Finaliser of splitmix64 (Steele, Lea, Flood 2014).
  static constexpr std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }

  std::uint64_t counter_;
};

}  // namespace entrain
