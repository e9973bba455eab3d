// SPDX-License-Identifier: BSD-3-Clause
#include "verify/parcels.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/flat_map.hpp"
#include "verify/times.hpp"

namespace entrain::verify {

namespace {

constexpr std::uint32_t k_process_sync = 1;  // OTF2_RMA_SYNC_LEVEL_PROCESS

/// Decides where the ends of every channel come to stand. Where they are in posting order already,
/// that is the order in which they pass by.
class Slots {
 public:
  Slots(const trace::Trace& trace, const Places& places, Outline& outline)
      : channels_(outline.channels), next_(channels_.size(), 0) {
    std::vector<Outline::Post>& posts = outline.posts;
    std::vector<std::uint32_t> disordered;
    for (std::uint32_t i = 0; i < posts.size(); ++i) {
      if (posts[i].channel != k_none && channels_[posts[i].channel].disordered) {
        disordered.push_back(i);
      }
    }
    // Threads of a process share a clock: their stored stamps tell who posted first.
    const bool single = places.is_single(outline.process);
    const auto stamp = [&](std::uint32_t number) -> std::uint64_t {
      if (single) return 0;
      const EventRef at = places.event(outline.process, number);
      return trace.locations[at.location].events[at.event].time;
    };
    const auto place = [&](std::uint32_t i) {
      return std::tuple(posts[i].channel, stamp(posts[i].order), posts[i].order, i);
    };
    std::sort(disordered.begin(), disordered.end(),
              [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
    for (const std::uint32_t i : disordered) posts[i].order = next_[posts[i].channel]++;
  }

  /// To be asked once per post, in order.
  std::uint32_t operator()(const Outline::Post& post) {
    return channels_[post.channel].disordered ? post.order : next_[post.channel]++;
  }

 private:
  const std::vector<Outline::Channel>& channels_;
  std::vector<std::uint32_t> next_;
};

std::uint32_t blocks(std::uint32_t count) { return (count + k_block - 1) / k_block; }

}  // namespace

void sort_by_time(std::byte* at, std::size_t unused) {
  const ChannelEnds ends(at);
  const std::size_t count = ends.count();
  std::vector<std::pair<std::int64_t, std::uint32_t>> sorted;
  for (std::size_t k = 0; k < count; ++k) sorted.emplace_back(ends.time(k), ends.node(k));
  std::sort(sorted.begin(), sorted.end());
  std::rotate(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(unused), sorted.end());
  std::byte* const times = at + ChannelEnds::k_head;
  std::byte* const nodes = times + count * sizeof(std::int64_t);
  for (std::size_t k = 0; k < count; ++k) {
    store(times + k * sizeof(std::int64_t), sorted[k].first);
    store(nodes + k * sizeof(std::uint32_t), sorted[k].second);
  }
}

Parcels::Parcels(const Team& team, const trace::Trace& trace, const Places& places,
                 std::span<const ClockMap> maps, std::span<const std::uint32_t> limits)
    : members_(team.size()),
      trace_(trace),
      places_(places),
      maps_(maps),
      limits_(limits),
      sends_(team.size()),
      calls_(team.size()) {}

std::uint32_t Parcels::home(SpaceIndex space, std::uint32_t block) const {
  return static_cast<std::uint32_t>(mix(std::uint64_t{space} << 32 | block) % members_);
}

std::uint32_t Parcels::limit(const Outline::Column& column) const {
  return std::min(column.count, limits_[column.space]);
}

void Parcels::reserve(const std::vector<Outline>& outlines) {
  std::vector<std::size_t> send_bytes(members_, 0), call_bytes(members_, 0);
  std::size_t receive_bytes = 0;
  for (const Outline& outline : outlines) {
    for (const Outline::Channel& channel : outline.channels) {
      if (channel.count == 0) continue;
      auto& bytes = channel.send ? send_bytes[places_.owner(channel.key.receiver)] : receive_bytes;
      bytes += ChannelEnds::size(channel.count);
    }
    for (const Outline::Column& column : outline.columns) {
      const std::uint32_t count = limit(column);
      for (std::uint32_t b = 0; b < blocks(count); ++b) {
        call_bytes[home(column.space, b)] +=
            sizeof(CallsHead) + std::min(k_block, count - b * k_block) * sizeof(CallRecord);
      }
    }
  }
  receives_.resize(receive_bytes);
  next_receive_ = receives_.data();
  for (std::uint32_t m = 0; m < members_; ++m) {
    sends_[m].resize(send_bytes[m]);
    calls_[m].resize(call_bytes[m]);
    next_send_.push_back(sends_[m].data());
    next_call_.push_back(calls_[m].data());
  }
}

void Parcels::write(std::vector<Outline>&& outlines) {
  reserve(outlines);
  for (Outline& outline : outlines) {
    write_posts(outline);
    write_calls(outline);
    outline = {};
  }
}

void Parcels::write_posts(Outline& outline) {
  std::vector<std::byte*> places;  // of the first time of each channel
  for (const Outline::Channel& channel : outline.channels) {
    auto& next = channel.send ? next_send_[places_.owner(channel.key.receiver)] : next_receive_;
    places.push_back(channel.count == 0 ? nullptr : next + ChannelEnds::k_head);
    if (channel.count == 0) continue;  // all cancelled
    store(next, channel.key);
    store(next + sizeof(ChannelKey), channel.count);
    next += ChannelEnds::size(channel.count);
  }
  Slots slots(trace_, places_, outline);
  auto post = outline.posts.begin();
  for (const LocationIndex l : places_.locations(outline.process)) {
    const auto& events = trace_.locations[l].events;
    const std::uint32_t first = places_.first_number(l);
    StreamTimes time(maps_[l]);
    for (; post != outline.posts.end() && post->node - first < events.size(); ++post) {
      if (post->channel == k_none) continue;
      const std::uint32_t slot = slots(*post);
      std::byte* const times = places[post->channel];
      std::byte* const nodes = times + outline.channels[post->channel].count * sizeof(std::int64_t);
      store(times + slot * sizeof(std::int64_t), time(events[post->node - first].time));
      store(nodes + slot * sizeof(std::uint32_t), post->node);
    }
  }
}

void Parcels::write_calls(Outline& outline) {
  std::vector<std::byte*> places;            // of the first call of each block
  std::vector<std::size_t> first_of_column;  // in places
  for (const Outline::Column& column : outline.columns) {
    first_of_column.push_back(places.size());
    const std::uint32_t count = limit(column);
    for (std::uint32_t b = 0; b < blocks(count); ++b) {
      std::byte*& next = next_call_[home(column.space, b)];
      const std::uint32_t part = std::min(k_block, count - b * k_block);
      store(next, CallsHead{column.space, b, outline.process, column.seat, part});
      places.push_back(next + sizeof(CallsHead));
      next += sizeof(CallsHead) + part * sizeof(CallRecord);
    }
  }
  std::vector<std::uint32_t> next(outline.columns.size(), 0);
  auto call = outline.calls.begin();
  for (const LocationIndex l : places_.locations(outline.process)) {
    const auto& events = trace_.locations[l].events;
    const std::uint32_t first = places_.first_number(l);
    StreamTimes begin_time(maps_[l]), end_time(maps_[l]);
    for (; call != outline.calls.end() && call->event - first < events.size(); ++call) {
      const Outline::Column& column = outline.columns[call->column];
      const std::uint32_t slot = column.disordered ? call->order : next[call->column]++;
      if (slot >= limit(column)) continue;
      const trace::Event& end = events[call->event - first];
      CallRecord record{0, end_time(end.time), call->begin, call->end, end.peer, end.op, end.flags};
      if (call->begin != k_none) record.begin_time = begin_time(events[call->begin - first].time);
      record.blocking = end.kind != trace::EventKind::nb_complete;
      record.synchronises = (end.tag & k_process_sync) != 0;
      store(places[first_of_column[call->column] + slot / k_block] +
                slot % k_block * sizeof(CallRecord),
            record);
    }
  }
}

}  // namespace entrain::verify
