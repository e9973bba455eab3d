// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/ids.hpp"

/// The pairs and instances that a matcher found where records are missing, as data that a checker
/// can verify.
namespace entrain::trace {

/// Operations that belong together: the `first`-th with the `second`-th, and so on for `count` in a
/// row.
struct ClaimedRun {
  std::uint32_t first = 0;   ///< send on its channel, or call of its process
  std::uint32_t second = 0;  ///< receive on the channel, or instance
  std::uint32_t count = 0;

  friend bool operator==(const ClaimedRun&, const ClaimedRun&) = default;
};

/// Appends a pair: it lengthens the last run or begins a new one.
inline void append_pair(std::vector<ClaimedRun>& runs, std::uint32_t first, std::uint32_t second) {
  if (!runs.empty() && runs.back().first + runs.back().count == first &&
      runs.back().second + runs.back().count == second) {
    ++runs.back().count;
  } else {
    runs.push_back({first, second, 1});
  }
}

/// The messages on one channel. Sends and receives are numbered from 0 in the order in which they
/// were posted; cancelled ones and receives that never completed have no number.
struct ClaimedChannel {
  CommIndex comm = k_none;
  std::uint32_t sender = k_none, receiver = k_none;  ///< processes
  std::uint32_t tag = 0;
  std::vector<ClaimedRun> pairs;  ///< order: that of the sends
  std::uint32_t ambiguous = 0;    ///< receives whose send is not certain
  /// Ends whose partner lies in a gap of the records of the other process.
  std::uint32_t sends_in_gaps = 0, receives_in_gaps = 0;

  [[nodiscard]] auto name() const { return std::tuple(sender, receiver, comm, tag); }
};

/// The calls of a process on one communicator or RMA window, numbered from 0 in the order of their
/// begins. Calls outside all runs are in no instance.
struct ClaimedCalls {
  std::uint32_t space = k_none;  ///< communicator; windows follow all communicators
  std::uint32_t process = k_none;
  std::vector<ClaimedRun> instances;  ///< order: that of the calls
  std::uint32_t ambiguous = 0;        ///< calls whose instance is not certain
  std::uint32_t in_gaps = 0;          ///< calls whose partner lies in a gap of another process

  [[nodiscard]] auto name() const { return std::tuple(space, process); }
};

/// The claims about the processes of one member of a team: channels go to the receiver. Numbers in
/// channels and calls are the same in a trace and in its corrected copy. Channels without a claim
/// are complete: their k-th operations belong together. Calls without a claim are in no instance.
///
/// Example: process 0 sends 1000 messages to process 1; the receive of number 400 has no record.
/// The claim is {0, 0, 400}, {401, 400, 599}: 24 bytes for 999 pairs.
struct Witness {
  std::vector<ClaimedChannel> channels;
  std::vector<ClaimedCalls> calls;
  /// No claimed pair contradicts the clock records of the trace in which it was found.
  bool respects_clock_records = false;

  void sort() {
    const auto by_name = [](const auto& a, const auto& b) { return a.name() < b.name(); };
    std::sort(channels.begin(), channels.end(), by_name);
    std::sort(calls.begin(), calls.end(), by_name);
  }
};

/// Stamps of a send and a receive that were paired and do not belong together; or twice the same
/// begin of a call, whose instance is wrong.
struct WrongPair {
  LocationIndex from = k_none, to = k_none;
  std::uint64_t sent = 0, received = 0;  ///< stored stamps, ticks

  friend auto operator<=>(const WrongPair&, const WrongPair&) = default;
};

/// Finds the claim with this name, or null. `claims` are sorted. O(log n).
template <class Claim, class Name>
const Claim* find_claim(const std::vector<Claim>& claims, const Name& name) {
  const auto found = std::lower_bound(claims.begin(), claims.end(), name,
                                      [](const Claim& a, const Name& b) { return a.name() < b; });
  return found != claims.end() && found->name() == name ? &*found : nullptr;
}

}  // namespace entrain::trace
