// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <entrain/error.hpp>

#include "base/team.hpp"
#include "trace/definitions.hpp"
#include "trace/witness.hpp"
#include "verify/claims.hpp"
#include "verify/edges.hpp"
#include "verify/outline.hpp"

namespace entrain::verify {

/// The first ordinal of a space that is no instance, because its calls contradict each other.
struct Disagreement {
  SpaceIndex space = k_none;
  std::uint32_t ordinal = 0;
};

/// Numbers of collective calls per process and space, and the ordinals that can be instances: those
/// that every calling process reaches. Where calls are missing, a space is *aligned*: claims of a
/// witness number its calls.
///
/// Example: three processes call 5, 5 and 4 times on a communicator. Ordinals 0 to 3 can be
/// complete (the limit is 4), and one instance is incomplete. If the calls with ordinal 2 turn out
/// to be a barrier and two reductions, cut() lowers the limit to 2.
///
/// The same at every member.
class Spaces {
 public:
  /// Collective.
  Spaces(Team& team, const trace::Definitions& definitions, std::span<const Outline> outlines);

  /// Per space: ordinals below this can be complete instances.
  [[nodiscard]] std::span<const std::uint32_t> limits() const { return limits_; }
  /// True if in some space of [first, end) callers differ in the number or order of their
  /// operations.
  [[nodiscard]] bool unequal(SpaceIndex first, SpaceIndex end) const;
  [[nodiscard]] bool is_aligned(SpaceIndex space) const { return aligned_[space]; }

  /// Aligns the spaces of communicators and windows from `first` on by the claims of a witness.
  /// Calls without a claim are in no instance.
  ///
  /// Afterwards Outline::Call::order holds the numbers of instances, or k_none; such columns have
  /// the length of the longest one. The limit is 0 where fewer than two processes have a call left.
  /// Counts the calls without a number. `outlines`: those of this member. Collective. O(n).
  /// ErrorKind::internal if a claim does not hold, or is about no calls of `outlines`.
  ///
  /// Example: process 0 makes calls A, B, C on the world. The trace of process 1 has only A and C,
  /// which the witness numbers 0 and 2. Nobody of process 1 is in the instance of B.
  Result<void> align(const Records& records, SpaceIndex first, std::span<Outline> outlines,
                     Unmatched& unmatched);

  /// Cuts each space at its first disagreement; `found`: disagreements that this member found.
  /// Counts the calls after it, and unless aligned, those that not all processes reach. True if
  /// some member found one. Collective.
  bool cut(Team& team, const std::vector<Disagreement>& found, Unmatched& unmatched);

 private:
  /// The calls of all processes in one space.
  struct Sum {
    std::uint32_t callers = 0;  ///< processes with calls
    std::uint32_t shortest = 0, longest = 0;
    std::uint64_t calls = 0;
    bool unequal = false;  ///< callers differ in the order of their operations
  };
  Result<std::vector<std::uint32_t>> numbers_of(const std::string& path,
                                                const Outline::Column& column,
                                                const trace::ClaimedCalls& claim) const;

  std::vector<Sum> sums_;              ///< one per space
  std::vector<std::uint32_t> limits_;  ///< one per space
  std::vector<bool> aligned_;          ///< one per space
};

}  // namespace entrain::verify
