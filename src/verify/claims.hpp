// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <entrain/error.hpp>

#include "trace/share.hpp"
#include "trace/witness.hpp"
#include "verify/outline.hpp"
#include "verify/places.hpp"

/// The claims of a matcher about records of which some are missing, and their verification from the
/// records alone.
namespace entrain::verify {

/// Source of the claims about a trace. Without any, nothing is paired where records are missing.
struct Claims {
  /// Claims about the processes of this member and maybe others; null: `find` makes them.
  const trace::Witness* witness = nullptr;
  /// Finds claims; called at every member of the team if records are missing. May be empty.
  /// `messages_missing`: also records of messages are missing. Collective.
  std::function<Result<trace::Witness>(const trace::Share&, bool messages_missing)> find = {};
  /// False if the claims are those of another copy of the trace with other clock records.
  bool same_clock_records = true;
};

/// Process whose owner verifies a claim.
inline std::uint32_t verifier(const trace::ClaimedChannel& claim) { return claim.receiver; }
inline std::uint32_t verifier(const trace::ClaimedCalls& claim) { return claim.process; }

/// State of the records of a trace.
struct Records {
  const trace::Share& share;
  const Places& places;
  const trace::Witness& witness;
  bool messages_missing = false;
  bool any_missing = false;          ///< messages or collective calls are missing
  bool by_clock_records = false;     ///< see ChannelFacts
  std::vector<bool> with_gaps = {};  ///< one per process, see processes_with_gaps()

  /// Number of claims that this member verifies, those about unknown processes included.
  template <class Claim>
  [[nodiscard]] std::size_t about(const std::vector<Claim>& claims) const {
    return static_cast<std::size_t>(std::ranges::count_if(claims, [&](const Claim& claim) {
      const std::uint32_t process = verifier(claim);
      return process >= places.process_count() || places.owner(process) == share.team.rank();
    }));
  }
};

/// Properties of a message record by which claims are tested; known only where records are missing.
struct EndFacts {
  std::uint64_t time = 0;    ///< trace::RecordedClock::time(), ticks
  std::uint32_t doubt = 0;   ///< trace::RecordedClock::doubt(), ticks
  std::uint32_t symbol = 0;  ///< trace::length_code()
};

/// Both sides of a channel, in order of posting.
struct ChannelFacts {
  std::span<const EndFacts> sends, receives;
  bool sender_has_gaps = false, receiver_has_gaps = false;
  bool by_clock_records = false;  ///< no pair may contradict these
};

/// Returns why a claim contradicts the records; null: it holds. It holds if all records exist, each
/// is used once, no send is received before an earlier one, lengths are equal, clock records allow
/// the pairs, and gaps are claimed only where a process has some. O(n).
const char* refute(const trace::ClaimedChannel& claim, const ChannelFacts& facts);

/// The same for the calls of a process. `calls`: their number; `instances`: that of the process
/// with the most calls.
const char* refute(const trace::ClaimedCalls& claim, std::uint32_t calls, std::uint32_t instances);

/// The error that a claim does not hold: a mistake of the matcher.
tl::unexpected<Error> refuted(const std::string& path, const std::string& claim, const char* why);

/// Per process: true if records may be missing in a gap: after MeasurementOnOff, in a file that is
/// missing or ends early, or in a process with MPI_Init and without MPI_Finalize. `outlines`: those
/// of this member. Collective.
std::vector<bool> processes_with_gaps(const trace::Share& share, const Places& places,
                                      std::span<const Outline> outlines);

/// True if a location of this member has a gap that ends: records follow it.
bool any_inner_gaps(const trace::Share& share);

}  // namespace entrain::verify
