// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "trace/skeleton.hpp"

namespace entrain::trace {

/// A message as the process at one end records it.
struct Message {
  std::uint32_t peer = 0;  ///< rank of the other end in the communicator
  std::uint32_t comm = 0;  ///< position of the communicator in the definitions
  std::uint32_t tag = 0;
  std::uint64_t length = 0;  ///< bytes
};

/// A collective as one participant records it when it ends.
struct Collective {
  std::uint8_t op = 0;               ///< see trace::op
  std::uint32_t comm = 0;            ///< position of the communicator in the definitions
  std::uint32_t root = k_root_none;  ///< rank in the communicator
  std::uint64_t sent = 0;            ///< bytes that this participant sends
  std::uint64_t received = 0;        ///< bytes
};

}  // namespace entrain::trace
