// SPDX-License-Identifier: BSD-3-Clause
#include "formats/untied_clocks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/disjoint_sets.hpp"
#include "base/edge_list.hpp"

namespace entrain::formats {

namespace {

/// Per clock: the smallest number of a clock that it is tied to by edges, directly or by way of
/// others.
std::vector<std::uint32_t> tied_groups(const Recording& recording) {
  DisjointSets sets(recording.clocks.clocks.size());
  const EdgeList& list = recording.list;
  for (std::size_t e = 0; e < list.cause_clock.size(); ++e) {
    sets.join(list.cause_clock[e], list.effect_clock[e]);
  }
  for (const CollectiveInstance& one : list.instances) {
    for (std::uint64_t m = 0; m < std::uint64_t{one.begins} + one.ends; ++m) {
      sets.join(list.members[one.first].clock, list.members[one.first + m].clock);
    }
  }
  return sets.all();
}

}  // namespace

void warn_of_untied_clocks(Recording& recording) {
  constexpr std::size_t k_most_names = 8;
  if (recording.list.cause_clock.empty() && recording.list.instances.empty()) return;
  const std::vector<std::uint32_t> group = tied_groups(recording);
  std::vector<std::size_t> size(group.size(), 0);
  for (const std::uint32_t g : group) ++size[g];
  const auto largest =
      static_cast<std::uint32_t>(std::max_element(size.begin(), size.end()) - size.begin());
  std::vector<std::string> names;
  for (std::size_t c = 0; c < group.size(); ++c) {
    const Clock& clock = recording.clocks.clocks[c];
    if (group[c] == largest || !clock.events) continue;
    // A host's clock is called by a number, its process "rank 2".
    names.push_back(clock.process.ends_with(clock.name) ? clock.process : clock.name);
  }
  if (names.empty()) return;
  const std::size_t more = names.size() - std::min(names.size(), k_most_names);
  names.resize(names.size() - more);
  recording.warnings.push_back(fmt::format(
      "nothing ties {}{} to the {} other clocks, so that the verdict says nothing of "
      "how far they are apart",
      fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "", size[largest]));
}

}  // namespace entrain::formats
