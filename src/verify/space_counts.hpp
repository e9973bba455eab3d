// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/team.hpp"
#include "trace/definitions.hpp"
#include "verify/edges.hpp"
#include "verify/outline.hpp"

namespace entrain::verify {

/// How many calls the processes made in each space, and from that, which ordinals can be instances:
/// those that every calling process reaches.
///
/// Example: three processes call 5, 5 and 4 times on a communicator. Ordinals 0 to 3 can be
/// complete (the limit is 4), and one instance is incomplete. If the calls with ordinal 2 turn out
/// to be a barrier and two reductions, cut() lowers the limit to 2.
class SpaceCounts {
 public:
  /// Counts for the processes for which `counts` holds. Collective.
  SpaceCounts(Team& team, const trace::Definitions& definitions, std::span<const Outline> outlines,
              const std::function<bool(std::uint32_t)>& counts = everybody);

  /// Per space: ordinals below this can be complete instances. The same at every member.
  [[nodiscard]] std::span<const std::uint32_t> limits() const { return limits_; }

  /// The process that calls most in a space, the first one in order of rank; and how often.
  struct Reference {
    SpaceIndex space = k_none;
    std::uint32_t process = k_none;
    std::uint32_t calls = 0;
  };
  /// True if in some space of [first, end) not all callers call as often, or not the same
  /// operations in the same order. Collective.
  [[nodiscard]] bool unequal(Team& team, SpaceIndex first, SpaceIndex end) const;
  /// The references of all spaces in which somebody calls. Collective.
  [[nodiscard]] std::vector<Reference> references(Team& team) const;
  /// Takes these limits for aligned spaces: 0 where fewer than two processes have a call left. From
  /// now on cut() counts nothing there. The same at every member.
  void align(std::span<const Reference> aligned);

  /// The first ordinal of a space that is no instance, because its calls contradict each other.
  struct Disagreement {
    SpaceIndex space = k_none;
    std::uint32_t ordinal = 0;
  };
  /// Leaves out each space from its first disagreement on; `found` are those that this member
  /// found. Counts the calls that take no part. Collective.
  void cut(Team& team, const std::vector<Disagreement>& found, Unmatched& unmatched);

 private:
  /// The calls in one space, added up over processes.
  struct Sum {
    SpaceIndex space = k_none;
    std::uint32_t columns = 0;  ///< processes that call
    std::uint32_t shortest = k_none;
    std::uint32_t longest = 0;
    std::uint64_t calls = 0;
    std::uint64_t operations = 0;  ///< Outline::Column::operations of some process
    bool unequal = false;          ///< others have other ones
    std::uint32_t first = k_none;  ///< of those that call most: the first process
    std::uint64_t first_seat = 0;  ///< its group and rank
  };
  static bool everybody(std::uint32_t) { return true; }
  static void merge(std::vector<Sum>& sums);
  std::vector<std::uint32_t> limits_;
  std::vector<bool> aligned_;  ///< per space
  std::vector<Sum> own_;       ///< of the spaces that this member counts for all
};

}  // namespace entrain::verify
