// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace entrain::record {

/// An operation on an RMA window that may not be complete at its target yet.
struct RemoteOperation {
  std::uint64_t number = 0;  ///< number in the records
  int target = 0;            ///< rank in the window's communicator
  bool fetches = false;      ///< complete at the target as soon as its result is here
  bool local = false;        ///< complete on this side
};

/// An RMA window of the program.
struct Window {
  /// An access or exposure epoch: the processes that this one accesses, or that access it.
  struct Epoch {
    std::uint32_t group = 0;    ///< local number
    bool synchronises = false;  ///< the two sides wait for each other
  };
  std::uint32_t id = 0;  ///< local number
  int rank = 0;
  bool allocated = false;  ///< the library allocated its memory
  Epoch access, exposure;
  std::vector<RemoteOperation> operations;
};

}  // namespace entrain::record
