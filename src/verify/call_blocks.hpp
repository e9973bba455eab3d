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
#include "verify/space_counts.hpp"

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

/// Number of ordinals per block. Blocks of a space go round the members, so that the largest
/// communicator is spread over all of them; chosen, not measured.
///
/// Example: a process makes 130 calls in a space. Calls 0 to 63 travel to the home of block 0, 64
/// to 127 to that of block 1, 128 and 129 to that of block 2.
inline constexpr std::uint32_t k_block = 64;

/// Head of a run of calls: those of one process in one block of ordinals of a space.
struct CallsHead {
  SpaceIndex space = k_none;
  std::uint32_t block = 0;  ///< the first call has the ordinal block * k_block
  std::uint32_t process = k_none;
  Seat seat;
  std::uint32_t count = 0;
};

/// Calls for one member, head by head.
struct CallParcel {
  std::vector<CallsHead> heads;
  BigVector<CallRecord> calls;
};

/// Sends parcels[r] to member r and puts the one from member r in its place. Collective.
void exchange_parcels(Team& team, std::vector<CallParcel>& parcels);

/// The collective calls that met at this member, instance by instance.
class CallBlocks {
 public:
  CallBlocks(const trace::Trace& trace, const Places& places, AlltoallvRule alltoallv,
             std::vector<CallParcel>&& parcels);

  /// Returns the first ordinal of each space whose calls contradict each other. Counts the
  /// instances that make no edges on purpose or have one call only, and the calls of the others.
  [[nodiscard]] std::vector<SpaceCounts::Disagreement> disagreements(
      std::span<const std::uint32_t> limits, LeftOut& counts) const;

  /// Replaces the times of the calls by those of other maps.
  void set_times(const TimeSource& source);

  /// Calls `use` for every instance below the limits that makes edges.
  void for_each(std::span<const std::uint32_t> limits,
                const std::function<void(Instance&)>& use) const;

 private:
  struct Slice {
    CallsHead head;
    CallRecord* calls = nullptr;  ///< calls in a parcel, sorted by ordinal
  };
  using Slices = std::span<const Slice>;  ///< slices of one block, sorted by process
  struct Form;

  template <class Use>
  void for_each_block(Use use) const;

  const trace::Trace& trace_;
  const Places& places_;
  AlltoallvRule alltoallv_;
  std::vector<CallParcel> parcels_;
  std::vector<Slice> slices_;  ///< sorted by space, block, process
};

}  // namespace entrain::verify
