// SPDX-License-Identifier: BSD-3-Clause
#include "verify/parcels.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/flat_map.hpp"
#include "verify/stream_times.hpp"

namespace entrain::verify {

namespace {

constexpr std::uint32_t k_process_sync = 1;  // OTF2_RMA_SYNC_LEVEL_PROCESS

/// Appends `count` values and returns the first. The memory must have been reserved: pointers to
/// earlier values stay valid.
template <class T>
T* append(std::vector<T>& values, std::size_t count) {
  const std::size_t first = values.size();
  values.resize(first + count);
  return values.data() + first;
}

/// The position of each post of a process in its channel. If the posts of a channel are stored in
/// posting order, they are simply counted.
class PostPositions {
 public:
  PostPositions(const trace::Trace& trace, const Places& places, Outline& outline)
      : channels_(outline.channels), next_(channels_.size(), 0) {
    std::vector<Outline::Post>& posts = outline.posts;
    std::vector<std::uint32_t> disordered;
    for (std::uint32_t i = 0; i < posts.size(); ++i) {
      if (posts[i].channel != k_none && channels_[posts[i].channel].disordered) {
        disordered.push_back(i);
      }
    }
    // Threads of a process share a clock: their stored stamps say which posted first.
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

  /// To be called once per post, in order.
  std::uint32_t operator()(const Outline::Post& post) {
    return channels_[post.channel].disordered ? post.order : next_[post.channel]++;
  }

 private:
  const std::vector<Outline::Channel>& channels_;
  std::vector<std::uint32_t> next_;
};

/// Where the calls of one process in one space go: each block of ordinals into the parcel for its
/// home.
struct ColumnPlaces {
  std::vector<CallRecord*> blocks;  ///< where each block begins
  std::uint32_t limit = 0;          ///< ordinals from here on are left out
  std::uint32_t next = 0;           ///< ordinal of the next call, if they are stored in order

  CallRecord& operator[](std::uint32_t ordinal) {
    return blocks[ordinal / k_block][ordinal % k_block];
  }
};

/// Calls `use(block, count)` with each block of the first `calls` ordinals.
template <class Use>
void for_each_block(std::uint32_t calls, Use use) {
  for (std::uint32_t block = 0; std::uint64_t{block} * k_block < calls; ++block) {
    use(block, std::min(k_block, calls - block * k_block));
  }
}

class ParcelWriter {
 public:
  ParcelWriter(const trace::Share& share, const Places& places, std::span<const ClockMap> maps,
               std::span<const std::uint32_t> limits)
      : trace_(share.trace), places_(places), maps_(maps), limits_(limits) {
    out_.sends.resize(share.team.size());
    out_.calls.resize(share.team.size());
  }

  Parcels write(std::vector<Outline>&& outlines) && {
    reserve(outlines);
    for (Outline& outline : outlines) {
      write_posts(outline);
      write_calls(outline);
      outline = {};
    }
    return std::move(out_);
  }

 private:
  ChannelParcel& parcel_of(const Outline::Channel& channel) {
    return channel.send ? out_.sends[places_.owner(channel.key.receiver)] : out_.receives;
  }
  CallParcel& parcel_of(SpaceIndex space, std::uint32_t block) {
    return out_.calls[mix(std::uint64_t{space} << 32 | block) % out_.calls.size()];
  }
  [[nodiscard]] std::uint32_t limit(const Outline::Column& column) const {
    return std::min(column.count, limits_[column.space]);
  }

  /// Makes room for everything at once: the parcels must not grow while they are written.
  void reserve(const std::vector<Outline>& outlines) {
    struct Size {
      std::size_t heads = 0, values = 0;
    };
    std::vector<Size> sends(out_.sends.size()), calls(out_.calls.size());
    Size receives;
    const auto add = [](Size& size, std::size_t values) {
      ++size.heads;
      size.values += values;
    };
    for (const Outline& outline : outlines) {
      for (const Outline::Channel& channel : outline.channels) {
        if (channel.count == 0) continue;
        add(channel.send ? sends[places_.owner(channel.key.receiver)] : receives, channel.count);
      }
      for (const Outline::Column& column : outline.columns) {
        for_each_block(limit(column), [&](std::uint32_t block, std::uint32_t count) {
          const auto to =
              static_cast<std::size_t>(&parcel_of(column.space, block) - out_.calls.data());
          add(calls[to], count);
        });
      }
    }
    const auto reserve_ends = [](ChannelParcel& parcel, const Size& size) {
      parcel.heads.reserve(size.heads);
      parcel.times.reserve(size.values);
      parcel.instants.reserve(size.values);
    };
    reserve_ends(out_.receives, receives);
    for (std::size_t m = 0; m < sends.size(); ++m) {
      reserve_ends(out_.sends[m], sends[m]);
      out_.calls[m].heads.reserve(calls[m].heads);
      out_.calls[m].calls.reserve(calls[m].values);
    }
  }

  std::vector<ChannelSide> begin_channels(const Outline& outline) {
    std::vector<ChannelSide> sides;
    for (const Outline::Channel& channel : outline.channels) {
      sides.emplace_back();
      if (channel.count == 0) continue;  // all cancelled
      ChannelParcel& to = parcel_of(channel);
      to.heads.push_back({.key = channel.key, .count = channel.count});
      sides.back() = {.times = append(to.times, channel.count),
                      .instants = append(to.instants, channel.count)};
    }
    return sides;
  }

  void write_posts(Outline& outline) {
    const std::vector<ChannelSide> sides = begin_channels(outline);
    PostPositions position(trace_, places_, outline);
    auto post = outline.posts.begin();
    for (const LocationIndex l : places_.locations(outline.process)) {
      const auto& events = trace_.locations[l].events;
      const std::uint32_t first = places_.first_number(l);
      StreamTimes time(maps_[l]);
      for (; post != outline.posts.end() && post->instant - first < events.size(); ++post) {
        if (post->channel == k_none) continue;
        const std::uint32_t k = position(*post);
        const ChannelSide& side = sides[post->channel];
        side.times[k] = time(events[post->instant - first].time);
        side.instants[k] = post->instant;
      }
    }
  }

  std::vector<ColumnPlaces> begin_columns(const Outline& outline) {
    std::vector<ColumnPlaces> columns;
    for (const Outline::Column& column : outline.columns) {
      ColumnPlaces& places = columns.emplace_back();
      places.limit = limit(column);
      for_each_block(places.limit, [&](std::uint32_t block, std::uint32_t count) {
        CallParcel& to = parcel_of(column.space, block);
        to.heads.push_back({.space = column.space,
                            .block = block,
                            .process = outline.process,
                            .seat = column.seat,
                            .count = count});
        places.blocks.push_back(append(to.calls, count));
      });
    }
    return columns;
  }

  void write_calls(const Outline& outline) {
    std::vector<ColumnPlaces> columns = begin_columns(outline);
    auto call = outline.calls.begin();
    for (const LocationIndex l : places_.locations(outline.process)) {
      const auto& events = trace_.locations[l].events;
      const std::uint32_t first = places_.first_number(l);
      StreamTimes begin_time(maps_[l]), end_time(maps_[l]);
      for (; call != outline.calls.end() && call->event - first < events.size(); ++call) {
        ColumnPlaces& column = columns[call->column];
        const bool disordered = outline.columns[call->column].disordered;
        const std::uint32_t ordinal = disordered ? call->order : column.next++;
        if (ordinal >= column.limit) continue;
        const trace::Event& end = events[call->event - first];
        const bool has_begin = call->begin != k_none;
        column[ordinal] = {
            .begin_time = has_begin ? begin_time(events[call->begin - first].time) : 0,
            .end_time = end_time(end.time),
            .begin = call->begin,
            .end = call->end,
            .root = end.peer,
            .operation = end.op,
            .flags = end.flags,
            .blocking = end.kind != trace::EventKind::nb_complete,
            .synchronises = (end.tag & k_process_sync) != 0};
      }
    }
  }

  const trace::Trace& trace_;
  const Places& places_;
  std::span<const ClockMap> maps_;
  std::span<const std::uint32_t> limits_;
  Parcels out_;
};

}  // namespace

Parcels write_parcels(const trace::Share& share, const Places& places,
                      std::span<const ClockMap> maps, std::span<const std::uint32_t> limits,
                      std::vector<Outline>&& outlines) {
  return ParcelWriter(share, places, maps, limits).write(std::move(outlines));
}

}  // namespace entrain::verify
