// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace entrain {

/// FNV-1a, 64 bit, of bytes or characters; `hash`: that of what stands before them.
template <class Bytes>
std::uint64_t fnv1a(const Bytes& bytes, std::uint64_t hash = 0xCBF29CE484222325u) {
  for (const auto byte : bytes) hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001B3u;
  return hash;
}

}  // namespace entrain
