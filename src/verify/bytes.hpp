// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace entrain::verify {

/// Reads a value out of a parcel of bytes, whatever its alignment.
template <class T>
T load(const std::byte* from) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Writes a value into a parcel of bytes.
template <class T>
void store(std::byte* to, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace entrain::verify
