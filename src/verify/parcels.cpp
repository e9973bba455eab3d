// SPDX-License-Identifier: BSD-3-Clause
#include "verify/parcels.hpp"

#include <algorithm>
#include <utility>

#include "base/flat_map.hpp"
#include "base/free_memory.hpp"
#include "verify/post_positions.hpp"
#include "verify/stream_times.hpp"

namespace entrain::verify {

namespace {

constexpr std::uint32_t k_process_sync = 1;  // OTF2_RMA_SYNC_LEVEL_PROCESS

/// Appends `count` values and returns the first. The memory must have been reserved: pointers to
/// earlier values stay valid.
template <class T>
T* append(BigVector<T>& values, std::size_t count) {
  const std::size_t first = values.size();
  values.resize(first + count);
  return values.data() + first;
}

/// Final size of a parcel: it must not grow while it is written.
struct Size {
  std::size_t heads = 0, values = 0;

  void add(std::size_t count) {
    ++heads;
    values += count;
  }
};

/// Destinations of the calls of one process in one space: each block of ordinals goes into the
/// parcel for its home.
struct ColumnPlaces {
  std::vector<CallRecord*> blocks;  ///< begin of each block
  std::uint32_t limit = 0;          ///< first ordinal that is skipped
  std::uint32_t next = 0;           ///< ordinal of the next call if stored in order

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

class EndWriter {
 public:
  EndWriter(const trace::Share& share, const Places& places, std::span<const ClockMap> maps)
      : trace_(share.trace), places_(places), maps_(maps) {
    out_.sends.resize(share.team.size());
  }

  EndParcels write(std::span<Outline> outlines) && {
    reserve(outlines);
    for (Outline& outline : outlines) {
      write_posts(outline);
      free_memory(outline.posts);
    }
    return std::move(out_);
  }

 private:
  ChannelParcel& parcel_of(const Outline::Channel& channel) {
    return channel.send ? out_.sends[places_.owner(channel.key.receiver)] : out_.receives;
  }

  void reserve(std::span<const Outline> outlines) {
    std::vector<Size> sends(out_.sends.size());
    Size receives;
    for (const Outline& outline : outlines) {
      for (const Outline::Channel& channel : outline.channels) {
        if (channel.count == 0) continue;
        Size& size = channel.send ? sends[places_.owner(channel.key.receiver)] : receives;
        size.add(channel.count);
      }
    }
    const auto reserve_ends = [](ChannelParcel& parcel, const Size& size) {
      parcel.heads.reserve(size.heads);
      parcel.times.reserve(size.values);
      parcel.instants.reserve(size.values);
    };
    reserve_ends(out_.receives, receives);
    for (std::size_t m = 0; m < sends.size(); ++m) reserve_ends(out_.sends[m], sends[m]);
  }

  struct Side {
    ChannelHead* head = nullptr;
    ChannelSide ends;
  };

  std::vector<Side> begin_channels(const Outline& outline) {
    std::vector<Side> sides;
    for (const Outline::Channel& channel : outline.channels) {
      sides.emplace_back();
      if (channel.count == 0) continue;  // all cancelled
      ChannelParcel& to = parcel_of(channel);
      to.heads.push_back({.key = channel.key, .count = channel.count});
      sides.back() = {.head = &to.heads.back(),
                      .ends = {.times = append(to.times, channel.count),
                               .instants = append(to.instants, channel.count)}};
    }
    return sides;
  }

  void write_posts(Outline& outline) {
    const std::vector<Side> sides = begin_channels(outline);
    PostPositions position(trace_, places_, outline);
    auto post = outline.posts.begin();
    for (const LocationIndex l : places_.locations(outline.process)) {
      const auto& events = trace_.locations[l].events;
      const std::uint32_t first = places_.first_number(l);
      StreamTimes time(maps_[l]);
      for (; post != outline.posts.end() && post->instant - first < events.size(); ++post) {
        if (post->channel == k_none) continue;
        const std::uint32_t k = position(*post);
        const Side& side = sides[post->channel];
        side.ends.times[k] = time(events.time(post->instant - first));
        side.ends.instants[k] = post->instant;
        side.head->symbols += mix(std::uint64_t{k} << 32 | post->symbol);
      }
    }
  }

  const trace::Trace& trace_;
  const Places& places_;
  std::span<const ClockMap> maps_;
  EndParcels out_;
};

class CallWriter {
 public:
  CallWriter(const trace::Share& share, const Places& places, std::span<const ClockMap> maps,
             std::span<const std::uint32_t> limits)
      : trace_(share.trace),
        places_(places),
        maps_(maps),
        limits_(limits),
        out_(share.team.size()) {}

  std::vector<CallParcel> write(std::vector<Outline>&& outlines) && {
    reserve(outlines);
    for (Outline& outline : outlines) {
      write_calls(outline);
      outline = {};
    }
    return std::move(out_);
  }

 private:
  CallParcel& parcel_of(SpaceIndex space, std::uint32_t block) {
    return out_[mix(std::uint64_t{space} << 32 | block) % out_.size()];
  }
  [[nodiscard]] std::uint32_t limit(const Outline::Column& column) const {
    return std::min(column.count, limits_[column.space]);
  }

  void reserve(std::span<const Outline> outlines) {
    std::vector<Size> sizes(out_.size());
    for (const Outline& outline : outlines) {
      for (const Outline::Column& column : outline.columns) {
        for_each_block(limit(column), [&](std::uint32_t block, std::uint32_t count) {
          const auto to = &parcel_of(column.space, block) - out_.data();
          sizes[static_cast<std::size_t>(to)].add(count);
        });
      }
    }
    for (std::size_t m = 0; m < sizes.size(); ++m) {
      out_[m].heads.reserve(sizes[m].heads);
      out_[m].calls.reserve(sizes[m].values);
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
            .begin_time = has_begin ? begin_time(events.time(call->begin - first)) : 0,
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
  std::vector<CallParcel> out_;
};

}  // namespace

EndParcels write_ends(const trace::Share& share, const Places& places,
                      std::span<const ClockMap> maps, std::span<Outline> outlines) {
  return EndWriter(share, places, maps).write(outlines);
}

std::vector<CallParcel> write_calls(const trace::Share& share, const Places& places,
                                    std::span<const ClockMap> maps,
                                    std::span<const std::uint32_t> limits,
                                    std::vector<Outline>&& outlines) {
  return CallWriter(share, places, maps, limits).write(std::move(outlines));
}

}  // namespace entrain::verify
