// SPDX-License-Identifier: BSD-3-Clause
#include "formats/perfetto/track_writer.hpp"

namespace entrain::perfetto {

namespace {

constexpr std::size_t k_most_lanes = 64;  ///< lanes per track; more are no picture of anything

}  // namespace

TrackWriter::TrackWriter(PacketWriter& packets, std::uint64_t first_uuid,
                         const std::vector<TrackText>& tracks)
    : packets_(packets),
      texts_(tracks),
      first_(first_uuid),
      next_(first_uuid + tracks.size()),
      tracks_(tracks.size()) {
  for (std::size_t t = 0; t < tracks.size(); ++t) {
    const TrackText& text = tracks[t];
    const std::uint64_t parent = text.parent == TrackText::k_none ? 0 : first_ + text.parent;
    packets_.track(first_ + t, parent, text.name, text.fields);
    tracks_[t].lanes.push_back({first_ + t, {}});
  }
}

void TrackWriter::event(std::uint64_t uuid, std::int64_t time, std::int32_t type,
                        std::string_view fields) {
  packets_.event(uuid, static_cast<std::uint64_t>(time), type, fields);
}

void TrackWriter::flush(Track& track) {
  if (!track.is_pending) return;
  track.is_pending = false;
  event(track.uuid, track.time, k_slice_begin, track.fields);
}

/// Ends the slices of a lane that end up to a time.
void TrackWriter::settle(Lane& lane, std::int64_t time) {
  while (!lane.open.empty() && lane.open.back().end <= time) {
    event(lane.uuid, lane.open.back().end, k_slice_end, lane.open.back().at_end);
    lane.open.pop_back();
  }
}

/// The first lane on which a slice nests; null if there is none.
TrackWriter::Lane* TrackWriter::lane_for(std::uint32_t track, std::int64_t begin,
                                         std::int64_t end) {
  std::vector<Lane>& lanes = tracks_[track].lanes;
  for (Lane& lane : lanes) {
    settle(lane, begin);
    if (lane.open.empty() || lane.open.back().end >= end) return &lane;
  }
  if (lanes.size() == k_most_lanes) return nullptr;
  const TrackText& text = texts_[track];
  const std::uint64_t parent =
      text.is_scoped || text.parent == TrackText::k_none ? first_ + track : first_ + text.parent;
  packets_.track(next_, parent, text.name.empty() ? "overlapping" : text.name);
  ++counts_.lanes;
  return &lanes.emplace_back(Lane{next_++, {}});
}

void TrackWriter::slice(std::uint32_t track, std::int64_t begin, std::int64_t end,
                        std::string_view fields, std::string_view at_end) {
  Track& own = tracks_[track];
  flush(own);
  Lane* const lane = lane_for(track, begin, end);
  ++(end == k_never ? counts_.unfinished : counts_.slices);
  if (lane == nullptr) {
    ++counts_.cut;
    own.fields = fields;
    own.fields += at_end;
    if (end != k_never) {
      add_message(own.fields, EventField::debug_annotations, [&](std::string& note) {
        add_bytes(note, NoteField::name, "duration_ns");
        add_integer(note, NoteField::int_value, end - begin);
      });
    }
    event(first_ + track, begin, k_instant, own.fields);
    return;
  }
  lane->open.push_back({end, std::string(at_end)});
  own.is_pending = true;
  own.uuid = lane->uuid;
  own.time = begin;
  own.fields = fields;
}

void TrackWriter::instant(std::uint32_t track, std::int64_t time, std::string_view fields) {
  Track& own = tracks_[track];
  flush(own);
  settle(own.lanes.front(), time);
  ++counts_.instants;
  event(first_ + track, time, k_instant, fields);
}

void TrackWriter::counter(std::uint32_t track, std::int64_t time, std::string_view fields) {
  ++counts_.counters;
  event(first_ + track, time, k_counter, fields);
}

void TrackWriter::arrow_end(std::uint32_t track, std::int64_t time, std::string_view fields,
                            std::string_view joined) {
  Track& own = tracks_[track];
  ++counts_.arrow_ends;
  if (own.is_pending && own.time == time && !joined.empty()) {
    own.fields += joined;
    return;
  }
  --counts_.instants;  // is none of the trace's
  instant(track, time, fields);
}

void TrackWriter::finish() {
  for (Track& track : tracks_) {
    flush(track);
    for (Lane& lane : track.lanes) settle(lane, k_never - 1);
  }
}

}  // namespace entrain::perfetto
