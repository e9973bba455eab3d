// SPDX-License-Identifier: BSD-3-Clause
#include "trace/workers.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "base/big_vector.hpp"
#include "base/executor.hpp"
#include "base/memory_room.hpp"

namespace entrain::trace {

std::vector<std::uint64_t> Workers::weigh(
    const Definitions& definitions, const std::function<std::uint64_t(LocationIndex)>& bytes) {
  std::vector<std::int64_t> sizes(definitions.locations.size(), 0);
  if (!alone()) {
    Team& team = *processes_;
    // Each process asks the file system for its share of the sizes only: with 100,000 locations and
    // many processes, all sizes everywhere would be a heavy load.
    for (std::size_t l = team.rank(); l < sizes.size(); l += team.size()) {
      sizes[l] = static_cast<std::int64_t>(bytes(static_cast<LocationIndex>(l)));
    }
    team.reduce(Team::Reduction::sum, sizes);
  }
  return {sizes.begin(), sizes.end()};
}

namespace {

/// Communication events of a member, at least. A thread that has fewer to work on, some 15 ms,
/// costs more than it gains beside other processes: members of a team wait for each other's time
/// slices, some 3 ms each. Tests of several members set a smaller number.
std::uint64_t events_per_member() {
  const char* const least = std::getenv("ENTRAIN_EVENTS_PER_MEMBER");
  return least != nullptr ? std::max(1, std::atoi(least)) : 100'000;
}

/// Memory that a run needs beside its large arrays, bytes.
constexpr std::uint64_t k_reserve = std::uint64_t{32} << 20;
std::atomic<std::uint64_t> arrays_limit{0};  ///< bytes, of all arrays of the process; 0: none

}  // namespace

Result<void> Workers::run(const Trace& trace, const Partition& partition, const Body& body) {
  if (!alone()) return body({*processes_, partition, trace}, threads_);
  std::vector<std::uint64_t> weight;
  std::uint64_t events = 0;
  for (const LocationSkeleton& location : trace.locations) {
    weight.push_back(location.events.size());
    events += location.events.size();
  }
  // Members without a process of the trace would only wait for the others.
  const std::uint32_t most = count_of(trace.definitions.process_of);
  const auto members = static_cast<unsigned>(std::max<std::uint64_t>(
      1, std::min<std::uint64_t>({worker_count(threads_), most, events / events_per_member()})));
  Partition among_threads;
  return run_team(
      members,
      [&](Team& team) {
        return body({team, among_threads, trace}, 1);
      },
      [&](unsigned there) { among_threads = divide(trace.definitions, weight, there); });
}

MemoryLimit::MemoryLimit(std::uint64_t bytes) : active_(bytes > 0) {
  if (!active_) return;
  arrays_limit = std::max<std::uint64_t>(bytes > 2 * k_reserve ? bytes - k_reserve : bytes / 2, 1);
  set_memory_room(std::max(bytes, 2 * k_reserve));
  set_aside_what_is_read();
}

void MemoryLimit::set_aside_what_is_read() {
  if (arrays_limit == 0) return;
  const char* folder = std::getenv("TMPDIR");
  // At least a byte: 0 would be no limit.
  const std::uint64_t most = arrays_limit - 1;
  BigMemory::set_limit(most - std::min(most, memory_taken()) + 1,
                       folder != nullptr && *folder != '\0' ? folder : "/var/tmp");
}

MemoryLimit::~MemoryLimit() {
  if (active_) {
    set_memory_room(0);
    arrays_limit = 0;
    BigMemory::set_limit(0, {});
  }
  BigMemory::release();
}

}  // namespace entrain::trace
