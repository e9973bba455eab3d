// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/flat_map.hpp"

namespace entrain {

/// Hash of a text, 64 bit, for what leaves the process: it is the same in every build for machines
/// of one byte order, which std::hash need not be. Not against malice. Several bytes per cycle:
/// four lanes of words, which the processor multiplies side by side; the rest by words.
inline std::uint64_t text_hash(std::string_view text) {
  constexpr std::size_t k_lanes = 4;
  constexpr std::uint64_t k_odd = 0x9E3779B97F4A7C15;
  std::uint64_t lanes[k_lanes] = {1, 2, 3, 4};
  std::uint64_t words[k_lanes];
  std::uint64_t hash = mix(text.size());
  for (; text.size() >= sizeof words; text.remove_prefix(sizeof words)) {
    std::memcpy(words, text.data(), sizeof words);
    for (std::size_t i = 0; i < k_lanes; ++i) {
      lanes[i] = (lanes[i] ^ words[i]) * k_odd;
      lanes[i] ^= lanes[i] >> 32;
    }
  }
  while (!text.empty()) {
    const std::size_t size = std::min(text.size(), sizeof(std::uint64_t));
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), size);
    hash = mix(hash + word);
    text.remove_prefix(size);
  }
  for (const std::uint64_t lane : lanes) hash = mix(hash + lane);
  return hash;
}

/// FNV-1a, 64 bit, of bytes or characters; `hash`: that of what stands before them.
template <class Bytes>
std::uint64_t fnv1a(const Bytes& bytes, std::uint64_t hash = 0xCBF29CE484222325u) {
  for (const auto byte : bytes) hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001B3u;
  return hash;
}

}  // namespace entrain
