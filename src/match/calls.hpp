// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "match/builder.hpp"

namespace entrain::match {

/// The call of one process in a collective operation; members of a team exchange it.
struct Call {
  std::uint64_t begun = 0;  ///< stamp of the begin, or of the end without a begin record, ticks
  std::uint64_t time = 0;   ///< stamp of the end, ticks
  LocationIndex location = k_none;
  NodeIndex begin = k_none, end = k_none;  ///< see NodeRef; begin k_none: no begin record
  std::uint32_t space = k_none;  ///< position of the communicator or RMA window, see CallSpace
  std::uint32_t process = k_none;
  std::uint32_t number = 0;         ///< index among the calls of this process on `space`
  std::uint32_t root = k_none;      ///< process, k_none, or k_root_elsewhere
  std::uint32_t size_code = 0;      ///< code of the bytes per caller if equal for all, or 0
  std::uint32_t partners = k_none;  ///< position in Definitions::partners; k_none: names none
  std::uint8_t op = 0;
  bool non_blocking : 1 = false;
  bool sent : 1 = false;
  bool received : 1 = false;
  bool synchronises : 1 = true;  ///< one-sided: the sync level includes the processes

  /// Sets begin and end; `began`: index of the begin record, k_none: there is none.
  void set_ends(const Builder& builder, EventRef ended, std::uint32_t began);
  /// Ticks from begin to end; k_none: too many, or no begin.
  [[nodiscard]] std::uint32_t duration() const {
    const std::uint64_t ticks = begin == k_none ? k_none : time - begun;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(ticks, k_none));
  }
  [[nodiscard]] bool names_partners() const { return partners != k_none; }
};

static_assert(sizeof(Call) == 56);
using Calls = BigVector<Call>;

/// Calls use(column) for the calls of each process on each communicator or window, which are
/// adjacent in the list.
template <class List, class Use>
void for_columns(List& list, Use use) {
  for (auto first = list.begin(), last = first; first != list.end(); first = last) {
    last = std::find_if(first, list.end(), [&](const Call& call) {
      return call.space != first->space || call.process != first->process;
    });
    use(std::span(first, last));
  }
}

/// Root of a call on an inter-communicator if it is another process of the caller's own group.
inline constexpr std::uint32_t k_root_elsewhere = k_none - 1;

struct CommProcess {
  std::uint32_t process = k_none;
  std::uint32_t rank = 0;
  bool second_group = false;  ///< second group of an inter-communicator
};

/// The processes of a communicator in order of rank, the first group first, each process once.
/// Unresolved ranks are skipped.
std::vector<CommProcess> processes_of(const Builder& builder, const trace::Comm& comm);

bool has_root(std::uint8_t op);

/// True if the calls have one operation and one root.
bool agree(std::span<const Call> calls);

/// Puts the calls of one operation instance into exchanges, by the rules of its operation.
/// `calls` has one call per process of the communicator (same index), all of the same operation and
/// root.
void add_instance(Builder& builder, std::span<const CommProcess> members,
                  std::span<const Call> calls, const trace::Comm& comm, bool one_sided);

/// The meaning of Call::space: a communicator, or an RMA window, which has one.
enum class CallSpace { comms, windows };

/// Forms the instances of all communicators or RMA windows: the k-th calls of all processes with
/// calls are an instance, up to the first one whose calls disagree. If records of messages or calls
/// are missing, the calls are aligned instead (number_by_reference()). Unmatched calls are counted.
///
/// `lists` hold the calls of this member's processes, in order of processes, and for each process
/// in the order in which it began them. Of calls begun at one stamp, requests come first, then the
/// call that ended first. Blocks of consecutive instances go to one member of the team. Collective.
///
/// Example: ranks 0 and 1 of an inter-communicator call Barrier, Bcast, Barrier and rank 2 Barrier,
/// Reduce. The first calls form a barrier. The second ones disagree, so nothing else of the
/// communicator is matched, and 5 calls are counted as "collectives_mismatched".
void match_calls(Builder& builder, std::vector<Calls> lists, CallSpace space);

}  // namespace entrain::match
