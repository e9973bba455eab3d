// SPDX-License-Identifier: BSD-3-Clause
#include "formats/paraver/claims.hpp"

#include <algorithm>

#include "base/flat_map.hpp"

namespace entrain::paraver {

std::uint64_t drop_refuted(Instances& instances, const Calls& calls) {
  std::vector<bool> used(calls.all.size());
  FlatMap<std::uint64_t, std::uint64_t, IntegerHash> latest;  // begins per communicator and rank
  const auto holds = [&](const Instance& one) {
    if (one.communicator >= calls.communicators.size()) return false;
    const std::vector<std::uint32_t>& tasks = calls.communicators[one.communicator].tasks;
    std::uint32_t least = 0;  // of the next rank
    for (const Member& member : instances.of(one)) {
      if (member.call >= used.size() || used[member.call]) return false;
      if (member.rank < least || member.rank >= tasks.size()) return false;
      const Call& call = calls.all[member.call];
      used[member.call] = true;
      least = member.rank + 1;
      std::uint64_t& begin =
          *latest.insert(std::uint64_t{one.communicator} << 32 | member.rank, 0).first;
      if (call.task != tasks[member.rank] || call.communicator != one.communicator ||
          call.operation != one.operation || call.end < call.begin || call.begin < begin) {
        return false;
      }
      begin = call.begin;
    }
    return true;
  };
  std::uint64_t dropped = 0;
  std::erase_if(instances.all, [&](const Instance& one) {
    const bool is_refuted = !holds(one);
    dropped += is_refuted ? one.members : 0;
    return is_refuted;
  });
  return dropped;
}

}  // namespace entrain::paraver
