// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <tuple>

#include "base/memory_room.hpp"
#include "formats/perfetto/walk.hpp"

namespace entrain::perfetto {
namespace {

/// Begin or end of a slice.
struct SliceEdge {
  std::int64_t time = 0;
  std::uint32_t track = 0;
  bool begins = false;
};

/// The begins and ends of the slices on tracks that are not in order of time, as in the file.
Result<std::vector<SliceEdge>> disordered_edges(const std::filesystem::path& path,
                                                std::uint64_t max_unpacked, const Tracks& tracks) {
  std::vector<SliceEdge> edges;
  State state(path, false);
  const auto see = [&](const Step& step) -> Result<void> {
    if (!step.time || !step.packet.is_event()) return {};
    const EventHead head = head_of_event(step.packet.event, state);
    if (head.phase != 'B' && head.phase != 'E') return {};
    const std::uint32_t track = tracks.find({head.track, step.packet.machine});
    if (track == Tracks::k_none || !tracks[track].is_disordered) return {};
    if (edges.size() == edges.capacity()) {
      TRY(check_memory_room(path, 2 * edges.size() * sizeof(SliceEdge)));
    }
    edges.push_back({*step.time, track, head.phase == 'B'});
    return {};
  };
  TRY(walk(path, max_unpacked, state, see));
  return edges;
}

/// Finds the ends of slices, paired as viewers do: in order of time, and of the file where times
/// are equal.
void pair(const std::vector<SliceEdge>& all, Survey& survey) {
  std::vector<std::uint32_t> order(all.size()), slices(all.size());
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    order[i] = i;
    slices[i] = count;
    count += all[i].begins ? 1 : 0;
  }
  std::ranges::stable_sort(order, {},
                           [&](std::uint32_t i) { return std::tie(all[i].track, all[i].time); });
  std::vector<std::int64_t>& ends = survey.ends;
  ends.assign(count, Survey::k_no_end);
  std::vector<std::uint32_t> open;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const SliceEdge& edge = all[order[k]];
    if (k > 0 && all[order[k - 1]].track != edge.track) open.clear();
    if (edge.begins) {
      open.push_back(slices[order[k]]);
    } else if (open.empty()) {
      ++survey.lone_ends;
    } else {
      ends[open.back()] = edge.time;
      open.pop_back();
    }
  }
}

}  // namespace

EventHead head_of_event(std::string_view event, const State& state) {
  EventHead head;
  head.track = state.defaults().track;
  for_each_field<EventField>(event, [&](EventField field, const Value& value) {
    if (field == EventField::type) head.type = static_cast<std::int32_t>(value.number);
    if (field == EventField::track_uuid) head.track = value.number;
    if (field == EventField::legacy_event) head.legacy = value;
  });
  set_phase(head);
  return head;
}

void set_phase(EventHead& head) {
  if (head.type == k_slice_begin) head.phase = 'B';
  if (head.type == k_slice_end) head.phase = 'E';
  if (head.type == k_counter) head.phase = 'C';
  if (head.type != 0) return;
  for_each_field<LegacyField>(head.legacy.bytes, [&](LegacyField field, const Value& value) {
    // Markers of clocks hold other times, which are not moved.
    const bool is_letter = (value.number >= 'A' && value.number <= 'Z') ||
                           (value.number >= 'a' && value.number <= 'z' && value.number != 'c');
    if (field == LegacyField::phase && is_letter) head.phase = static_cast<char>(value.number);
    if (field == LegacyField::duration_us) head.duration_us = value;
  });
}

TrackKey queue_of(std::string_view stage, std::uint32_t machine) {
  std::uint64_t device = 0, queue = 0;
  for_each_field<StageField>(stage, [&](StageField field, const Value& value) {
    if (field == StageField::gpu_id) device = value.number;
    if (field == StageField::hw_queue_iid) queue = value.number;
  });
  return {device << 32 | (queue & 0xFFFFFFFF), machine, true};
}

Result<std::shared_ptr<Survey>> survey(const std::filesystem::path& path,
                                       std::uint64_t max_unpacked) {
  auto result = std::make_shared<Survey>();
  Tracks& tracks = result->tracks;
  State state(path, false);
  bool is_disordered = false;
  std::uint32_t last = Tracks::k_none;
  const auto number = [&](const TrackKey& key) {
    if (last == Tracks::k_none || !(tracks[last].key == key)) last = tracks.add(key);
    return last;
  };
  const auto see = [&](const Step& step) -> Result<void> {
    const Packet& packet = step.packet;
    const std::size_t before = tracks.size();
    if (!packet.descriptor.empty()) tracks.describe(packet.descriptor, packet.machine);
    if (step.time && packet.is_event()) {
      const EventHead head = head_of_event(packet.event, state);
      const std::uint32_t own = number({head.track, packet.machine});
      Tracks::Track& track = tracks[own];
      if (head.phase == 'B' || head.phase == 'E') {
        is_disordered |= track.is_disordered |= *step.time < track.latest;
        track.latest = *step.time;
      }
    }
    if (step.time && packet.is_stage()) {
      number(queue_of(packet.stage, packet.machine));
    }
    return tracks.size() > before ? state.keep(k_track_memory) : Result<void>{};
  };
  TRY(walk(path, max_unpacked, state, see));
  result->is_complete = true;
  if (!is_disordered) return result;
  TRY_ASSIGN(const std::vector<SliceEdge> edges, disordered_edges(path, max_unpacked, tracks));
  pair(edges, *result);
  return result;
}

}  // namespace entrain::perfetto
