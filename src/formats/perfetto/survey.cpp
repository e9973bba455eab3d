// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <tuple>

#include "base/memory_room.hpp"
#include "formats/perfetto/walk.hpp"

namespace entrain::perfetto {
namespace {

/// Begin or end of a slice on a track that is not in order of time.
struct SliceEdge {
  std::uint32_t track = 0;
  bool begins = false;
  std::int64_t time = 0;
  std::size_t slice = 0;  ///< number of those that begin before it in the file
};

/// Ends of slices, paired as viewers do: in order of time, and of the file where times are equal.
std::vector<std::int64_t> ends_of(std::vector<SliceEdge> edges, std::size_t slices) {
  std::stable_sort(edges.begin(), edges.end(), [](const SliceEdge& a, const SliceEdge& b) {
    return std::tie(a.track, a.time) < std::tie(b.track, b.time);
  });
  std::vector<std::int64_t> ends(slices, Survey::k_no_end);
  std::vector<std::size_t> open;
  const SliceEdge* before = nullptr;
  for (const SliceEdge& edge : edges) {
    if (before != nullptr && before->track != edge.track) open.clear();
    before = &edge;
    if (edge.begins) {
      open.push_back(edge.slice);
    } else if (!open.empty()) {
      ends[open.back()] = edge.time;
      open.pop_back();
    }
  }
  return ends;
}

/// Pairs the slices of the tracks that are not in order.
Result<void> pair_disordered(const std::filesystem::path& path, std::uint64_t max_unpacked,
                             Survey& survey) {
  State state(path, false);
  std::vector<SliceEdge> edges;
  std::size_t slices = 0;
  const auto see = [&](const Step& step) -> Result<void> {
    if (!step.time || step.packet.event.bytes.data() == nullptr) return {};
    const EventHead head = head_of_event(step.packet.event.bytes, state);
    if (head.phase != 'B' && head.phase != 'E') return {};
    const std::uint32_t track = survey.tracks.find({head.track, step.packet.machine});
    if (track == Tracks::k_none || !survey.tracks[track].is_disordered) return {};
    if (edges.size() == edges.capacity()) {
      TRY(check_memory_room(path, 2 * edges.size() * sizeof(SliceEdge)));
    }
    edges.push_back({track, head.phase == 'B', *step.time, slices});
    slices += head.phase == 'B' ? 1 : 0;
    return {};
  };
  TRY(walk(path, max_unpacked, state, see));
  survey.ends = ends_of(std::move(edges), slices);
  return {};
}

}  // namespace

EventHead head_of_event(std::string_view event, const State& state) {
  EventHead head;
  head.track = state.default_track();
  for_each_field<EventField>(event, [&](EventField field, const Value& value) {
    if (field == EventField::type) head.type = static_cast<std::int32_t>(value.number);
    if (field == EventField::track_uuid) head.track = value.number;
    if (field == EventField::legacy_event) head.legacy = value;
  });
  set_phase(head);
  return head;
}

void set_phase(EventHead& head) {
  switch (head.type) {
    case k_slice_begin:
      head.phase = 'B';
      return;
    case k_slice_end:
      head.phase = 'E';
      return;
    case k_counter:
      head.phase = 'C';
      return;
    default:
      break;
  }
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
    if (step.time && packet.event.bytes.data() != nullptr) {
      const EventHead head = head_of_event(packet.event.bytes, state);
      Tracks::Track& track = tracks[number({head.track, packet.machine})];
      if (head.phase == 'B' || head.phase == 'E') {
        is_disordered |= track.is_disordered |= *step.time < track.latest;
        track.latest = *step.time;
      }
    }
    if (step.time && packet.stage.bytes.data() != nullptr) {
      number(queue_of(packet.stage.bytes, packet.machine));
    }
    return tracks.size() > before ? state.keep(k_track_memory) : Result<void>{};
  };
  TRY(walk(path, max_unpacked, state, see));
  result->is_complete = true;
  if (is_disordered) TRY(pair_disordered(path, max_unpacked, *result));
  return result;
}

}  // namespace entrain::perfetto
