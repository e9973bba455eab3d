// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace entrain::record {

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

}  // namespace entrain::record
