// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "base/ids.hpp"
#include "trace/trace.hpp"

namespace entrain::test {

/// The unit that shares one clock.
enum class ClockDomain : std::uint8_t { location, process, node };

/// Relative frequencies of operations; an operation with weight 0 does not occur.
struct OperationMix {
  int blocking = 10;     ///< MpiSend and MpiRecv
  int nonblocking = 10;  ///< MpiIsend, MpiIrecvRequest, MpiIrecv; completion in any order
  int cancel = 1;        ///< MpiRequestCancelled of receives and sends
  int collective = 4;    ///< every blocking MPI collective, also on sub- and inter-communicators
  int nb_collective = 2;
  int team = 3;    ///< fork, team begin/end, thread barrier, locks, tasks, join
  int create = 1;  ///< thread create, begin, end, wait
  int rma = 2;     ///< fences, post-start-complete-wait, notification
};

/// Size and manner of a random program and of the clocks that observe it. Ticks are local ticks.
struct TracePlan {
  std::uint64_t seed = 1;
  std::uint32_t processes = 4;           ///< >= 1
  std::uint32_t threads = 1;             ///< locations per process, >= 1
  std::uint32_t processes_per_node = 2;  ///< >= 1
  std::uint32_t sub_comms = 1;
  std::uint32_t inter_comms = 0;  ///< only with >= 2 processes
  std::uint32_t steps = 100;      ///< number of operations
  OperationMix mix;
  std::uint32_t tags = 2;              ///< number of different tags, >= 1
  double wildcard = 0.2;               ///< share of posted receives with any source or any tag
  bool mpi_threads = false;            ///< messages of every thread, told apart by their tags
  double persistent = 0.2;             ///< share of requests that use a persistent request's id
  bool shuffle_locations = false;      ///< definition order differs from rank order
  bool init_finalize = false;          ///< MPI_Init and MPI_Finalize calls, with edges
  bool dense_alltoallv = false;        ///< Alltoallv and Alltoallw give edges
  double named_partners = 0;           ///< share of them whose calls name their partners
  bool unmatched = false;              ///< records of sends and receives are missing
  bool mismatched_collective = false;  ///< one communicator loses a member's record

  std::int64_t gap_ticks = 10;     ///< mean distance of a location's operations, true time
  std::int64_t latency_ticks = 3;  ///< least delay between nodes; less inside a node
  double zero_gap = 0.1;           ///< share of operations that follow at once
  double downhill = 0;             ///< share of messages that go from a fast to a slow clock

  ClockDomain domain = ClockDomain::process;
  std::int64_t base_ticks = 1'000'000;  ///< stamp of true time 0 before the clock's error
  std::int64_t offset_ticks = 0;        ///< clock offsets are uniform in +-offset_ticks, >= 0
  double drift_ppm = 0;                 ///< rates are uniform in +-drift_ppm
  double wander_ppm = 0;                ///< amplitude of the rate's slow change
  std::int64_t wander_period_ticks = 1000;
  std::uint64_t granule_ticks = 1;  ///< stamps are multiples of it, >= 1

  std::uint32_t presync_sessions = 0;  ///< ClockOffset measurements; 0: identity maps
  std::int64_t presync_noise_ticks = 0;
};

std::ostream& operator<<(std::ostream& out, const TracePlan& plan);

/// A pair "send before receive" of different locations, named by location and stored stamp.
struct TrueEdge {
  LocationIndex send_location = k_none;
  std::uint64_t send_stamp = 0;
  LocationIndex receive_location = k_none;
  std::uint64_t receive_stamp = 0;
  EdgeKind kind = EdgeKind::p2p;

  friend bool operator==(const TrueEdge&, const TrueEdge&) = default;
  friend auto operator<=>(const TrueEdge&, const TrueEdge&) = default;
};

std::ostream& operator<<(std::ostream& out, const TrueEdge& edge);

/// A trace and everything that is true about it.
struct RandomTrace {
  trace::Trace trace;
  /// All happened-before pairs as docs/method.md, section 2, lists them; sorted, equal pairs
  /// repeated.
  std::vector<TrueEdge> edges;
  std::vector<ClockMap> presync;  ///< one per location, monotone

  std::uint64_t unmatched_sends = 0;     ///< send records without a receive record
  std::uint64_t unmatched_receives = 0;  ///< receive records without a send record
  std::uint64_t cancelled = 0;           ///< requests with an MpiRequestCancelled record
  std::uint64_t open_requests = 0;       ///< MpiIrecvRequest without completion or cancellation
  std::uint64_t alltoallv = 0;       ///< instances of Alltoallv, w with a call that names nobody
  std::uint64_t contradicting = 0;   ///< pairs of calls of which only one names the other
  bool collectives_dropped = false;  ///< mismatched_collective found something to damage
};

/// Simulates a program in true time and lets skewed clocks observe it. The result depends on the
/// plan alone. With perfect clocks (no offset, drift, wander) no edge is violated.
RandomTrace random_trace(const TracePlan& plan);

/// The same trace with location i at position `position[i]`.
RandomTrace permuted(const RandomTrace& trace, const std::vector<LocationIndex>& position);

}  // namespace entrain::test
