// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <entrain/options.hpp>
#include <entrain/progress.hpp>

#include "base/team.hpp"
#include "verify/instance.hpp"
#include "verify/parcels.hpp"

namespace entrain::verify {

/// How many calls the processes made in each space; what every member must know of it.
class SpaceCounts {
 public:
  /// A common call of the team.
  SpaceCounts(Team& team, const trace::Definitions& definitions, std::span<const Outline> outlines);

  /// Per space: ordinals below this can be complete instances. The same at every member.
  [[nodiscard]] std::span<const std::uint32_t> limits() const { return limits_; }

  /// The first ordinals that cannot be instances, from whoever found some. From there on a space
  /// is left out. Counts what does not take part. A common call of the team.
  struct Disagreement {
    SpaceIndex space = k_none;
    std::uint32_t ordinal = 0;
  };
  void cut(Team& team, const std::vector<Disagreement>& found, Unmatched& unmatched);

 private:
  struct Sum {
    SpaceIndex space = k_none;
    std::uint32_t columns = 0;
    std::uint32_t shortest = k_none;
    std::uint32_t longest = 0;
    std::uint64_t calls = 0;
  };
  static void merge(std::vector<Sum>& sums);
  std::vector<std::uint32_t> limits_;
  std::vector<Sum> own_;  ///< of the spaces that this member counts for all
};

/// The collective calls that met at this member, instance by instance.
class CallBlocks {
 public:
  CallBlocks(const trace::Trace& trace, const Places& places, AlltoallvRule alltoallv,
             std::vector<Team::Bytes>&& parcels);

  /// First ordinal of each space whose calls contradict each other. Counts the instances that
  /// make no edges on purpose.
  std::vector<SpaceCounts::Disagreement> disagreements(std::span<const std::uint32_t> limits,
                                                       Skipped& skipped) const;

  /// Calls `use` with every instance below the limits that makes edges.
  void for_each(std::span<const std::uint32_t> limits,
                const std::function<void(Instance&)>& use) const;

 private:
  struct Slice {
    CallsHead head;
    const std::byte* calls = nullptr;
  };
  using Slices = std::span<const Slice>;  ///< of one block, by process
  struct Form;

  template <class Use>
  void for_each_block(Use use) const;

  const trace::Trace& trace_;
  const Places& places_;
  AlltoallvRule alltoallv_;
  std::vector<Team::Bytes> parcels_;
  std::vector<Slice> slices_;  ///< by space, block, process
};

}  // namespace entrain::verify
