// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/set_back.hpp"
#include "formats/perfetto/state.hpp"
#include "formats/perfetto/tracks.hpp"

namespace entrain::perfetto {

/// The order of the packets of each track tells where the clock of a machine was set back. Begins
/// and ends are of different orders: PyTorch writes all begins before all ends.
class TrackOrders {
 public:
  /// Takes a packet of a track; returns the number of falls up to it.
  std::uint32_t see(std::uint32_t track, bool is_end, std::int64_t time) {
    if (orders_.size() <= track) orders_.resize(track + 1);
    return orders_[track][is_end ? 1 : 0].see(time, time);
  }
  [[nodiscard]] FallsOfMachines falls(const Tracks& tracks) const;

 private:
  std::vector<std::array<RowOrder, 2>> orders_;
};

/// Lets the times of a file count on where its clocks were set back, one packet after the other.
class CountOn {
 public:
  /// Both must outlive it.
  CountOn(const FallsOfMachines& falls, const Tracks& tracks) : falls_(falls), tracks_(tracks) {}

  /// The time of a packet, which is `time` as stored, by the clock of the trace.
  std::int64_t operator()(const Packet& packet, const State& state, std::int64_t time);
  /// That of a snapshot of the clocks of a machine.
  std::int64_t of_snapshot(std::uint32_t machine, std::int64_t time);

 private:
  const FallsOfMachines& falls_;
  const Tracks& tracks_;
  TrackOrders orders_;
  std::map<std::pair<std::uint32_t, bool>, RowOrder> others_;  ///< of a machine: true: snapshots
};

}  // namespace entrain::perfetto
