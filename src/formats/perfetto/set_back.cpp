// SPDX-License-Identifier: BSD-3-Clause
#include "formats/perfetto/set_back.hpp"

#include "formats/perfetto/walk.hpp"

namespace entrain::perfetto {
namespace {

std::int64_t moved_on(std::int64_t time, const Falls& falls, std::uint32_t part) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(time) + falls.ahead(time, part));
}

}  // namespace

FallsOfMachines TrackOrders::falls(const Tracks& tracks) const {
  std::map<std::uint32_t, std::vector<const RowOrder*>> of_machines;
  for (std::uint32_t t = 0; t < orders_.size(); ++t) {
    for (const RowOrder& order : orders_[t]) of_machines[tracks[t].key.machine].push_back(&order);
  }
  FallsOfMachines result;
  for (const auto& [machine, orders] : of_machines) {
    if (Falls falls = falls_of(orders); !falls.all.empty()) result.emplace(machine, falls);
  }
  return result;
}

std::int64_t CountOn::operator()(const Packet& packet, const State& state, std::int64_t time) {
  const auto falls = falls_.find(packet.machine);
  if (falls == falls_.end()) return time;
  TrackKey key;
  bool is_end = false;
  if (packet.is_stage()) {
    key = queue_of(packet.stage, packet.machine);
  } else if (packet.is_event()) {
    const EventHead head = head_of_event(packet.event, state);
    key = {head.track, packet.machine};
    is_end = head.phase == 'E';
  } else {
    return moved_on(time, falls->second, others_[{packet.machine, false}].see(time, time));
  }
  const std::uint32_t track = tracks_.find(key);
  if (track == Tracks::k_none) return time;  // the file has changed, as its hash will tell
  return moved_on(time, falls->second, orders_.see(track, is_end, time));
}

std::int64_t CountOn::of_snapshot(std::uint32_t machine, std::int64_t time) {
  const auto falls = falls_.find(machine);
  if (falls == falls_.end()) return time;
  return moved_on(time, falls->second, others_[{machine, true}].see(time, time));
}

}  // namespace entrain::perfetto
