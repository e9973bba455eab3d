// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "record/base/partners.hpp"

namespace entrain::record {

/// A handle of MPI, pointer or number, as a key.
template <class Handle>
std::uint64_t key_of(Handle handle) {
  std::uint64_t key = 0;
  static_assert(sizeof handle <= sizeof key);
  std::memcpy(&key, &handle, sizeof handle);
  return key;
}

/// A communicator of the program. All members derive the same `key` from the calls they made,
/// without a message.
struct Comm {
  std::uint32_t id = 0;  ///< local number
  std::string key;
  bool inter = false;
  bool foreign = false;  ///< has members outside of the recorded world
  bool whole = false;    ///< has all processes, in the order of the world
  int rank = 0, size = 0, remote_size = 0;
  std::uint64_t created = 0;  ///< communicators and windows made from it so far
  /// For calls with counts per process, and for those among neighbours; null before the first one.
  std::unique_ptr<Partners> everybody, neighbours;

  /// Number of processes with which a member exchanges data in a collective call, itself included
  /// on an intra-communicator.
  [[nodiscard]] std::uint64_t partners() const {
    return static_cast<std::uint64_t>(inter ? remote_size : size);
  }
};

}  // namespace entrain::record
