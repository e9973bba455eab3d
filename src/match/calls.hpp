// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/builder.hpp"

namespace entrain::match {

/// One process's part in a collective operation. Travels between the members of a team.
struct Call {
  NodeRef begin;  ///< undefined location: no begin record
  NodeRef end;
  std::uint32_t space = k_none;  ///< communicator or window
  std::uint32_t process = k_none;
  std::uint32_t number = 0;     ///< among the calls of this process on `space`
  std::uint32_t root = k_none;  ///< process, k_none, or k_root_elsewhere
  std::uint8_t op = 0;
  bool non_blocking = false;
  bool sent = false;
  bool received = false;
  bool synchronises = true;  ///< one-sided: the sync level includes the processes
};

/// Root of an inter-communicator's call whose own group holds the root: some other process.
inline constexpr std::uint32_t k_root_elsewhere = k_none - 1;

/// A member of a communicator in rank order.
struct CommProcess {
  std::uint32_t process = k_none;
  std::uint32_t rank = 0;
  bool second_group = false;  ///< of an inter-communicator
};

/// Members of a communicator, each process once per group. Unresolved ranks are left out.
std::vector<CommProcess> processes_of(const Builder& builder, const trace::Comm& comm);

/// True if the calls belong to one operation with one root.
bool agree(std::span<const Call> calls);

/// Puts the calls of one operation instance into exchanges, by the rules of its operation.
/// `calls` has one call per participant (same index); all of the same operation and root.
void add_instance(Builder& builder, std::span<const CommProcess> members,
                  std::span<const Call> calls, const trace::Comm& comm, bool one_sided);

/// Where the communicators of calls are found: by communicator, or by window.
enum class CallSpace { comms, windows };

/// Forms the instances of all communicators or windows: the k-th calls of the processes that call
/// at all belong together. Stops at the first instance of a communicator whose calls disagree.
/// Counts what is left over. `calls` are those of this member's processes, each process's in the
/// order in which it began them, and of those begun together requests first, then the one that
/// ended first; blocks of consecutive instances go to one member of the team.
void match_calls(Builder& builder, std::vector<Call> calls, CallSpace space);

}  // namespace entrain::match
