// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/team.hpp"
#include "trace/definitions.hpp"
#include "verify/edges.hpp"
#include "verify/outline.hpp"

namespace entrain::verify {

/// Numbers of calls per process and space, and the ordinals that can be instances: those that every
/// calling process reaches.
///
/// Example: three processes call 5, 5 and 4 times on a communicator. Ordinals 0 to 3 can be
/// complete (the limit is 4), and one instance is incomplete. If the calls with ordinal 2 turn out
/// to be a barrier and two reductions, cut() lowers the limit to 2.
class SpaceCounts {
 public:
  /// Collective.
  SpaceCounts(Team& team, const trace::Definitions& definitions, std::span<const Outline> outlines);

  /// Per space: ordinals below this can be complete instances. The same at every member.
  [[nodiscard]] std::span<const std::uint32_t> limits() const { return limits_; }

  /// The calls of the process with the most calls in a space (lowest rank among equals).
  struct Reference {
    SpaceIndex space = k_none;
    std::uint32_t calls = 0;
    std::uint64_t operations = 0;  ///< Outline::Column::operations
  };
  /// True if in some space of [first, end) callers differ in the number or order of their
  /// operations. Collective.
  [[nodiscard]] bool unequal(Team& team, SpaceIndex first, SpaceIndex end) const;
  /// References of all spaces with calls. Collective.
  [[nodiscard]] std::vector<Reference> references(Team& team) const;
  /// Sets the limits of aligned spaces: 0 where fewer than two processes have a call left. cut()
  /// then counts nothing there. The same at every member.
  void align(std::span<const Reference> aligned);
  [[nodiscard]] bool is_aligned(SpaceIndex space) const { return aligned_[space]; }

  /// The first ordinal of a space that is no instance, because its calls contradict each other.
  struct Disagreement {
    SpaceIndex space = k_none;
    std::uint32_t ordinal = 0;
  };
  /// Cuts each space at its first disagreement; `found`: disagreements that this member found.
  /// Counts the calls after it. Collective.
  void cut(Team& team, const std::vector<Disagreement>& found, Unmatched& unmatched);

 private:
  /// Sums over the calls of all processes in one space.
  struct Sum {
    SpaceIndex space = k_none;
    std::uint32_t columns = 0;  ///< number of processes with calls
    std::uint32_t shortest = k_none;
    std::uint32_t longest = 0;
    std::uint64_t calls = 0;
    std::uint64_t operations = 0;  ///< Outline::Column::operations of the reference
    bool unequal = false;          ///< others differ from `operations`
    std::uint64_t first_seat = 0;  ///< group and rank of the reference
  };
  static void merge(std::vector<Sum>& sums);
  std::vector<std::uint32_t> limits_;
  std::vector<bool> aligned_;  ///< one per space
  std::vector<Sum> own_;       ///< sums of the spaces that this member counts
};

}  // namespace entrain::verify
