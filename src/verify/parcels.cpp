// SPDX-License-Identifier: BSD-3-Clause
#include "verify/parcels.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/flat_map.hpp"
#include "base/free_memory.hpp"
#include "trace/recorded_clock.hpp"
#include "verify/exchange_part.hpp"
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

/// Calls `use(post, location)` for all posts with a channel.
template <class Use>
void for_posts(const trace::Trace& trace, const Places& places, const Outline& outline, Use use) {
  auto post = outline.posts.begin();
  for (const LocationIndex l : places.locations(outline.process)) {
    const std::uint32_t first = places.first_number(l);
    const std::size_t events = trace.locations[l].events.size();
    for (; post != outline.posts.end() && post->instant - first < events; ++post) {
      if (post->channel != k_none) use(*post, l);
    }
  }
}

class EndWriter {
 public:
  EndWriter(const trace::Share& share, const Places& places, std::span<const ClockMap> maps,
            bool with_facts)
      : trace_(share.trace), places_(places), maps_(maps), with_facts_(with_facts) {
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
    std::map<ChannelParcel*, std::size_t> sizes;
    for (const Outline& outline : outlines) {
      for (const Outline::Channel& channel : outline.channels) {
        sizes[&parcel_of(channel)] += channel.count;
      }
    }
    for (const auto& [parcel, size] : sizes) {
      parcel->times.reserve(size);
      parcel->instants.reserve(size);
      if (with_facts_) parcel->facts.reserve(size);
    }
  }

  std::vector<ChannelSide> begin_channels(const Outline& outline) {
    std::vector<ChannelSide> sides;
    for (const Outline::Channel& channel : outline.channels) {
      ChannelParcel& to = parcel_of(channel);
      sides.push_back({.times = append(to.times, channel.count),
                       .instants = append(to.instants, channel.count),
                       .facts = with_facts_ ? append(to.facts, channel.count) : nullptr});
    }
    return sides;
  }

  void write_posts(const Outline& outline) {
    const std::vector<ChannelSide> sides = begin_channels(outline);
    std::optional<trace::RecordedClocks> clocks;
    if (with_facts_) clocks.emplace(trace_, places_.locations(outline.process));
    LocationIndex location = k_none;
    std::optional<StreamTimes> time;
    for_posts(trace_, places_, outline, [&](const Outline::Post& post, LocationIndex l) {
      if (std::exchange(location, l) != l) time.emplace(maps_[l]);
      const ChannelSide& side = sides[post.channel];
      const std::uint64_t stamp =
          trace_.locations[l].events.time(post.instant - places_.first_number(l));
      side.times[post.order] = (*time)(stamp);
      side.instants[post.order] = post.instant;
      if (clocks) side.facts[post.order] = facts_of(outline, post, (*clocks)[l], stamp);
    });
  }
  static EndFacts facts_of(const Outline& outline, const Outline::Post& post,
                           const trace::RecordedClock& clock, std::uint64_t stamp) {
    const auto i = static_cast<std::uint32_t>(&post - outline.posts.data());
    return {.time = clock.time(stamp),
            .doubt = clock.doubt(stamp),
            .symbol = post.symbol,
            .unposted = std::binary_search(outline.unposted.begin(), outline.unposted.end(), i)};
  }

  const trace::Trace& trace_;
  const Places& places_;
  std::span<const ClockMap> maps_;
  bool with_facts_;
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
        if (call->order >= column.limit) continue;
        const trace::Event& end = events[call->event - first];
        const bool has_begin = call->begin != k_none;
        column[call->order] = {
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

EndHeads list_channels(const trace::Share& share, const Places& places,
                       std::span<const Outline> outlines) {
  EndHeads heads;
  heads.sends.resize(share.team.size());
  for (const Outline& outline : outlines) {
    for (const Outline::Channel& channel : outline.channels) {
      HeadParcel& to =
          channel.send ? heads.sends[places.owner(channel.key.receiver)] : heads.receives;
      to.heads.push_back({channel.key, channel.count, channel.symbols});
    }
  }
  exchange_part(share.team, heads.sends, &HeadParcel::heads);
  return heads;
}

EndParcels exchange_ends(const trace::Share& share, const Places& places,
                         std::span<const ClockMap> maps, std::span<Outline> outlines,
                         bool with_facts) {
  EndParcels ends = EndWriter(share, places, maps, with_facts).write(outlines);
  exchange_part(share.team, ends.sends, &ChannelParcel::times);
  exchange_part(share.team, ends.sends, &ChannelParcel::instants);
  exchange_part(share.team, ends.sends, &ChannelParcel::facts);
  return ends;
}

std::vector<CallParcel> write_calls(const trace::Share& share, const Places& places,
                                    std::span<const ClockMap> maps,
                                    std::span<const std::uint32_t> limits,
                                    std::vector<Outline>&& outlines) {
  return CallWriter(share, places, maps, limits).write(std::move(outlines));
}

}  // namespace entrain::verify
