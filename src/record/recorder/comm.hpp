// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace entrain::record {

/// A handle of MPI, pointer or number, as a key.
template <class Handle>
std::uint64_t key_of(Handle handle) {
  std::uint64_t key = 0;
  static_assert(sizeof handle <= sizeof key);
  std::memcpy(&key, &handle, sizeof handle);
  return key;
}

/// A communicator of the program. All members derive the same `key` from what they called, without
/// talking to each other.
struct Comm {
  std::uint32_t id = 0;  ///< local number
  std::string key;
  bool inter = false;
  bool foreign = false;  ///< has members outside of the world that is recorded
  bool whole = false;    ///< has all processes, in the order of the world
  int rank = 0, size = 0, remote_size = 0;
  std::uint64_t created = 0;  ///< communicators that were made from this one so far

  /// Number of those that a member exchanges data with in a collective call.
  [[nodiscard]] std::uint64_t partners() const {
    return static_cast<std::uint64_t>(inter ? remote_size : size);
  }
};

}  // namespace entrain::record
