// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/builder.hpp"

namespace entrain::match {

/// One process's part in a collective operation.
struct Call {
  EventRef begin;                   ///< undefined location: no begin record
  EventRef end;
  std::uint32_t team = k_none;      ///< communicator or window
  std::uint32_t process = k_none;
  std::uint32_t root = k_none;      ///< process, k_none, or k_root_elsewhere
  std::uint8_t op = 0;
  bool non_blocking = false;
  bool sent = false;
  bool received = false;
  bool synchronises = true;  ///< one-sided: the sync level includes the processes

  /// Where the call stands in the order of calls: its begin, or its end if that is missing.
  [[nodiscard]] EventRef place() const { return begin.location == k_none ? end : begin; }
};

/// Root of an inter-communicator's call whose own group holds the root: some other process.
inline constexpr std::uint32_t k_root_elsewhere = k_none - 1;

/// A member of a communicator in rank order.
struct Participant {
  std::uint32_t process = k_none;
  std::uint32_t rank = 0;
  bool second_group = false;  ///< of an inter-communicator
};

/// Members of a communicator, each process once per group. Unresolved ranks are left out.
std::vector<Participant> participants(const Builder& builder, const trace::Comm& comm);

/// Calls grouped by (team, process), each group in the order of the process's calls.
class CallTable {
 public:
  /// `calls` in the order in which every process began them.
  CallTable(std::vector<Call> calls, std::size_t team_count);

  [[nodiscard]] std::span<const Call> of(std::uint32_t team, std::uint32_t process) const;

 private:
  std::vector<Call> calls_;                 ///< sorted by (team, process), stable
  std::vector<std::size_t> first_of_team_;  ///< into calls_
};

/// Puts the calls of one operation instance into exchanges, by the rules of its operation.
/// `calls` has one call per participant (same index); all of the same operation and root.
void add_instance(Builder& builder, std::span<const Participant> members,
                  std::span<const Call* const> calls, const trace::Comm& comm, bool one_sided);

/// The instances of one communicator or window: k-th calls of its members belong together. Stops at
/// the first instance whose calls disagree. Counts what is left over under `prefix`.
void match_instances(Builder& builder, const CallTable& table, std::uint32_t team,
                     const trace::Comm& comm, bool one_sided);

}  // namespace entrain::match
