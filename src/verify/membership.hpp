// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "trace/definitions.hpp"

namespace entrain::verify {

/// Where a process sits in a communicator.
struct Seat {
  std::uint32_t group = 0;  ///< 1 only in the second group of an inter-communicator
  std::uint32_t rank = 0;
};

/// Process of a rank of a group of a communicator; k_none if there is no such member.
std::uint32_t process_at(const trace::Definitions& definitions, const trace::Comm& comm,
                         std::uint32_t group, std::uint32_t rank);

/// Who is who in communicators and groups, looked up once and remembered. Used by one thread.
class Memberships {
 public:
  explicit Memberships(const trace::Definitions& definitions)
      : definitions_(&definitions),
        seats_(definitions.comms.size()),
        processes_(definitions.groups.size()) {}

  /// Seat of a process in a communicator; nothing if it is no member. A process named twice has
  /// the first seat only.
  std::optional<Seat> seat_of(CommIndex comm, std::uint32_t process);

  /// Process that `rank` of `comm` means in a message of process `own`; k_none: nobody.
  std::uint32_t peer_process(CommIndex comm, std::uint32_t own, std::uint32_t rank);

  /// Processes of a group, each once, in increasing order: one with several locations is one.
  const std::vector<std::uint32_t>& processes_of(std::uint32_t group);

 private:
  struct Entry {
    std::uint32_t process = k_none;
    Seat seat;
  };

  const trace::Definitions* definitions_;
  std::vector<std::optional<std::vector<Entry>>> seats_;  ///< per communicator, by process
  std::vector<std::optional<std::vector<std::uint32_t>>> processes_;  ///< per group
  std::vector<std::uint32_t> nobody_;
};

}  // namespace entrain::verify
