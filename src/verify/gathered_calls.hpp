// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <entrain/options.hpp>

#include "base/big_vector.hpp"
#include "base/team.hpp"
#include "verify/edges.hpp"
#include "verify/event_times.hpp"
#include "verify/outline.hpp"
#include "verify/places.hpp"
#include "verify/spaces.hpp"

namespace entrain::verify {

/// A call of a collective operation, as sent between members.
struct CallRecord {
  std::int64_t begin_time = 0;  ///< corrected, ticks
  std::int64_t end_time = 0;
  std::uint32_t begin = k_none;  ///< number of the instant; k_none: not in the trace
  std::uint32_t end = k_none;    ///< k_none: the process has no call with this ordinal
  std::uint32_t root = 0;        ///< stored value; position of the partners if trace::k_partners
  std::uint8_t operation = 0;
  std::uint8_t flags = 0;  ///< trace::k_sent, k_received, k_partners
  bool blocking = true;
  bool synchronises = true;  ///< it synchronises processes, not only memory
};
static_assert(sizeof(CallRecord) == 32);

/// The collective calls that met at this member, instance by instance. Every member forms the
/// instances of a range of the ordinals of each space, so that all share the largest communicator.
class GatheredCalls {
 public:
  GatheredCalls(const trace::Trace& trace, const Places& places, AlltoallvRule alltoallv)
      : trace_(trace), places_(places), alltoallv_(alltoallv) {}

  /// Sends the calls of this member's outlines to the members that form their instances, and frees
  /// the outlines one by one. `limits`: per space, number of instances that can be complete
  /// (Spaces); later calls are skipped. Collective.
  /// O(n log c) for n calls in c columns. Call it once.
  ///
  /// Example: two members, and a space with limit 5. Calls 0 and 1 of each process travel to one
  /// member, calls 2 to 4 to the other.
  void gather(Team& team, const TimeSource& source, std::span<const std::uint32_t> limits,
              std::vector<Outline>&& outlines);

  struct Counts {
    std::vector<Disagreement> disagreements;  ///< the first one of each space
    /// Instances that make no edges on purpose or have one call only, and the calls of the others.
    LeftOut left_out;
    std::vector<std::int64_t> in_instances;  ///< per process; see CoverageCounts
  };
  [[nodiscard]] Counts count() const;

  /// Ignores the instances from these limits on, per space.
  void cut(std::span<const std::uint32_t> limits);

  /// Replaces the times of the calls by those of other maps.
  void set_times(const TimeSource& source);

  /// Calls `use` for every instance that makes edges.
  void for_each(const std::function<void(Instance&)>& use) const;

 private:
  /// Calls of one process in a space, as sent between members.
  struct Head {
    SpaceIndex space = k_none;
    std::uint32_t process = k_none;
    Seat seat;
    std::uint32_t first = 0;  ///< ordinal of the first call
    std::uint32_t count = 0;
  };
  /// Calls for one member, head by head.
  struct Parcel {
    std::vector<Head> heads;
    BigVector<CallRecord> calls;
  };
  struct Column {
    Head head;
    CallRecord* calls = nullptr;  ///< calls in a parcel, by ordinal
  };
  /// The instances of one space at this member.
  struct Range {
    std::span<const Column> columns;   ///< sorted by process; all have the calls of this range
    std::uint32_t begin = 0, end = 0;  ///< ordinals
  };
  struct Form;

  void write(const Outline& outline, const TimeSource& source,
             std::span<const std::uint32_t> limits);
  void list_ranges();

  const trace::Trace& trace_;
  const Places& places_;
  AlltoallvRule alltoallv_;
  std::vector<Parcel> parcels_;  ///< one per member
  std::vector<Column> columns_;  ///< sorted by space and process
  std::vector<Range> ranges_;    ///< sorted by space
};

}  // namespace entrain::verify
