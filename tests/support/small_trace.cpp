// SPDX-License-Identifier: BSD-3-Clause
#include "support/small_trace.hpp"

#include <string>
#include <vector>

#include "support/archive_builder.hpp"
#include "trace/skeleton.hpp"

namespace entrain::test {

namespace {

constexpr std::uint32_t k_ranks = 4;

/// Clock of a rank at true time t: an offset and a drift, ticks of 1 ns.
std::uint64_t clock(std::uint32_t rank, std::uint64_t t) {
  constexpr std::int64_t offsets[k_ranks] = {0, -400, 900, -1300};
  constexpr std::int64_t drift_ppm[k_ranks] = {0, 30, -20, 10};
  const auto elapsed = static_cast<std::int64_t>(t);
  return t + 1'000'000 +
         static_cast<std::uint64_t>(offsets[rank] + elapsed * drift_ppm[rank] / 1'000'000);
}

}  // namespace

std::filesystem::path write_small_trace(const std::filesystem::path& directory,
                                        const SmallTraceOptions& options) {
  ArchiveBuilder archive(directory);
  const auto node = archive.node("node");
  std::vector<std::uint64_t> ranks;
  for (std::uint32_t rank = 0; rank < k_ranks; ++rank) {
    const auto process = archive.process("MPI Rank " + std::to_string(rank), node);
    ranks.push_back(archive.location(rank, process, "Master thread"));
  }
  const auto world = archive.comm("MPI_COMM_WORLD", ranks);
  const auto work = archive.region("work", Role::function, Paradigm::user);
  const auto call = archive.region("MPI_Allreduce");

  std::uint64_t now = 0;
  for (unsigned i = 0; i < options.filler_pairs; ++i, now += 20) {
    archive.at(0).enter(clock(0, now), work).leave(clock(0, now + 10), work);
  }
  for (unsigned round = 0; round < options.rounds; ++round, now += 50'000) {
    for (std::uint32_t rank = 0; rank < k_ranks; ++rank) {
      const std::uint32_t next = (rank + 1) % k_ranks, previous = (rank + k_ranks - 1) % k_ranks;
      auto events = archive.at(rank);
      events.enter(clock(rank, now + 100), work);
      events.irecv_request(clock(rank, now + 200), round);
      events.send(clock(rank, now + 1000 + 10 * rank), next, world, 1);
      events.isend(clock(rank, now + 1200 + 10 * rank), previous, world, 2, 1000 + round);
      events.recv(clock(rank, now + 1500 + 10 * rank), previous, world, 1);
      events.irecv(clock(rank, now + 1800 + 10 * rank), next, world, 2, round);
      events.isend_complete(clock(rank, now + 1900 + 10 * rank), 1000 + round);
      events.leave(clock(rank, now + 2100), work);
      events.enter(clock(rank, now + 3000), call);
      events.collective_begin(clock(rank, now + 3000));
      events.collective_end(clock(rank, now + 3600 + rank), trace::op::allreduce, world,
                            trace::k_root_none);
      events.leave(clock(rank, now + 3700), call);
    }
  }
  if (options.clock_offsets) {
    for (std::uint32_t rank = 0; rank < k_ranks; ++rank) {
      // What a tracer would have measured, a little wrong: violations remain.
      for (unsigned session = 0; session < options.sessions; ++session) {
        const std::uint64_t t = now * session / (options.sessions - 1);
        const auto measured = static_cast<std::int64_t>(clock(0, t) - clock(rank, t)) + 300 * rank +
                              (session % 3 == 1 ? 40 * rank : 0);
        archive.clock_offset(rank, clock(rank, t), measured, 1.0);
      }
    }
  }
  return archive.finish();
}

}  // namespace entrain::test
