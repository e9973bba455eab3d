// SPDX-License-Identifier: BSD-3-Clause
#include "formats/paraver/claims.hpp"

#include "base/flat_map.hpp"

namespace entrain::paraver {

std::uint64_t drop_refuted(Instances& instances, const Calls& calls) {
  std::vector<bool> used(calls.all.size());
  FlatMap<std::uint64_t, std::uint64_t, IntegerHash> latest;  // begins per communicator and rank
  const auto holds = [&](const Instance& one) {
    if (one.communicator >= calls.communicators.size()) return false;
    const std::vector<std::uint32_t>& tasks = calls.communicators[one.communicator].tasks;
    const std::span<const std::uint32_t> members = instances.of(one);
    if (members.size() != tasks.size()) return false;
    for (std::uint32_t rank = 0; rank < members.size(); ++rank) {
      if (members[rank] >= used.size() || used[members[rank]]) return false;
      used[members[rank]] = true;
      const Call& call = calls.all[members[rank]];
      std::uint64_t& begin = *latest.insert(std::uint64_t{one.communicator} << 32 | rank, 0).first;
      if (call.task != tasks[rank] || call.communicator != one.communicator ||
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
