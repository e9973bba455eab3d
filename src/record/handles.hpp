// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/real_mpi.hpp"

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

/// An operation on a window that may not be complete at its target yet.
struct RemoteOperation {
  std::uint64_t number = 0;  ///< in the records
  int target = 0;            ///< rank in the window's communicator
  bool fetches = false;      ///< complete at the target once its result is here
  bool local = false;        ///< complete on this side
};

/// A window of one-sided communication.
struct Window {
  /// A group of processes that this one lets in, or that let it in.
  struct Epoch {
    std::uint32_t group = 0;    ///< local number
    bool synchronises = false;  ///< processes wait for each other
  };
  std::uint32_t id = 0;  ///< local number
  int rank = 0;
  bool allocated = false;  ///< the library has made its memory
  Epoch access, exposure;
  std::vector<RemoteOperation> operations;
};

/// Volume and place of one collective call.
struct Collective {
  std::uint8_t operation = 0;            ///< OTF2_CollectiveOp
  std::uint32_t comm = 0;                ///< local number
  std::uint32_t root = 0;                ///< rank or OTF2_COLLECTIVE_ROOT_*
  std::uint64_t sent = 0, received = 0;  ///< bytes
  bool known = false;                    ///< false: on a communicator that is not recorded
};

/// An operation that was started and not yet seen complete.
struct Pending {
  enum class Kind : std::uint8_t {
    nothing,
    send,
    receive,
    both_ways,
    collective,
    new_comm,
    one_sided
  };
  Kind kind = Kind::nothing;
  bool persistent = false, active = true;
  bool cancelled = false;    ///< MPI_Cancel was called
  bool silent = false;       ///< started while nothing was recorded
  std::uint64_t number = 0;  ///< request id in the records
  std::uint32_t comm = 0;
  std::uint64_t send_number = 0;   ///< both ways: of the send; `number` is that of the receive
  std::uint64_t bytes = 0;         ///< persistent sends, both ways
  std::int32_t peer = 0, tag = 0;  ///< persistent operations, both ways
  std::uint64_t window = 0;        ///< key of the handle
  Collective collective;
};

/// Pending operations by handle. Libraries give one handle to several operations that are complete
/// from the beginning; those count in the order in which they were started.
class RequestTable {
 public:
  void add(std::uint64_t handle, const Pending& pending) { table_[handle].push_back(pending); }
  /// The oldest one of that handle, or null.
  Pending* find(std::uint64_t handle) {
    const auto found = table_.find(handle);
    return found == table_.end() ? nullptr : &found->second.front();
  }
  void remove(std::uint64_t handle) {
    const auto found = table_.find(handle);
    if (found == table_.end()) return;
    found->second.erase(found->second.begin());
    if (found->second.empty()) table_.erase(found);
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<Pending>> table_;
};

}  // namespace entrain::record
