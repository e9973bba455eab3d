// SPDX-License-Identifier: BSD-3-Clause
#include "trace/partition.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/disjoint_sets.hpp"

namespace entrain::trace {

std::vector<LocationIndex> locations_of(const Partition& partition, std::uint32_t rank) {
  std::vector<LocationIndex> own;
  for (LocationIndex l = 0; l < partition.owner.size(); ++l) {
    if (partition.owns(rank, l)) own.push_back(l);
  }
  return own;
}

Partition undivided(const Definitions& definitions) {
  return {std::vector<std::uint32_t>(definitions.locations.size(), 0)};
}

namespace {

/// Per location: number of the block of processes that it belongs to, one of these processes.
/// `together` as for divide(). O(locations).
std::vector<std::uint32_t> blocks_of(const Definitions& definitions,
                                     std::span<const std::uint32_t> together) {
  std::vector<std::uint32_t> block = definitions.process_of;
  if (together.empty()) return block;
  DisjointSets blocks(count_of(block));
  std::unordered_map<std::uint32_t, std::uint32_t> process_with;  // by number in `together`
  for (LocationIndex l = 0; l < block.size(); ++l) {
    blocks.join(block[l], process_with.emplace(together[l], block[l]).first->second);
  }
  for (std::uint32_t& process : block) process = blocks.find(process);
  return block;
}

}  // namespace

Partition divide(const Definitions& definitions, std::span<const std::uint64_t> weight,
                 unsigned members, std::span<const std::uint32_t> together) {
  const std::size_t locations = definitions.locations.size();
  const std::vector<std::uint32_t> block = blocks_of(definitions, together);
  std::vector<std::uint64_t> of_process;
  std::vector<std::uint32_t> order;  // processes by first location
  std::uint64_t total = 0;
  for (LocationIndex l = 0; l < locations; ++l) {
    const std::uint32_t process = block[l];
    if (process >= of_process.size()) of_process.resize(process + 1, 0);
    if (of_process[process] == 0) order.push_back(process);
    of_process[process] += weight[l] + 1;  // a location costs something even without events
    total += weight[l] + 1;
  }
  std::vector<std::uint32_t> owner_of_process(of_process.size(), 0);
  std::uint64_t before = 0;
  for (const std::uint32_t process : order) {
    // The member in whose share of the whole the middle of this process lies.
    const double middle =
        static_cast<double>(before) + static_cast<double>(of_process[process]) / 2;
    const auto member = static_cast<std::uint32_t>(middle / static_cast<double>(total) * members);
    owner_of_process[process] = std::min(member, members - 1);
    before += of_process[process];
  }
  Partition partition;
  partition.owner.reserve(locations);
  for (LocationIndex l = 0; l < locations; ++l) {
    partition.owner.push_back(owner_of_process[block[l]]);
  }
  return partition;
}

}  // namespace entrain::trace
