// SPDX-License-Identifier: BSD-3-Clause
#include "verify/parcels.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
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

/// Sets Post::order of the posts of disordered channels to their positions in order of posting.
void order_posts(const trace::Trace& trace, const Places& places, Outline& outline) {
  const std::vector<Outline::Channel>& channels = outline.channels;
  BigVector<Outline::Post>& posts = outline.posts;
  // Sorted channel by channel, as one sort of all posts would compare more.
  std::vector<std::uint32_t> begin(channels.size() + 1, 0);
  const auto disordered = [&](const Outline::Post& post) {
    return post.channel != k_none && channels[post.channel].disordered;
  };
  for (const Outline::Post& post : posts) {
    if (disordered(post)) ++begin[post.channel + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::uint32_t> ordered(begin.back()), end(begin.begin(), begin.end() - 1);
  for (std::uint32_t i = 0; i < posts.size(); ++i) {
    if (disordered(posts[i])) ordered[end[posts[i].channel]++] = i;
  }
  // Threads of a process share a clock: their stored stamps say which posted first.
  const bool single = places.is_single(outline.process);
  const auto stamp = [&](std::uint32_t number) -> std::uint64_t {
    if (single) return 0;
    const EventRef at = places.event(outline.process, number);
    return trace.locations[at.location].events.time(at.event);
  };
  const auto place = [&](std::uint32_t i) {
    return std::tuple(stamp(posts[i].order), posts[i].order, i);
  };
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const auto of_channel = std::span(ordered).subspan(begin[c], begin[c + 1] - begin[c]);
    std::sort(of_channel.begin(), of_channel.end(),
              [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
    for (std::uint32_t k = 0; k < of_channel.size(); ++k) posts[of_channel[k]].order = k;
  }
}

/// Calls `use(post, k, location)` for all posts with a channel after order_posts(); k: its position
/// there.
template <class Use>
void for_posts(const trace::Trace& trace, const Places& places, const Outline& outline, Use use) {
  std::vector<std::uint32_t> next(outline.channels.size(), 0);
  auto post = outline.posts.begin();
  for (const LocationIndex l : places.locations(outline.process)) {
    const std::uint32_t first = places.first_number(l);
    const std::size_t events = trace.locations[l].events.size();
    for (; post != outline.posts.end() && post->instant - first < events; ++post) {
      if (post->channel == k_none) continue;
      const bool disordered = outline.channels[post->channel].disordered;
      use(*post, disordered ? post->order : next[post->channel]++, l);
    }
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
    order_posts(trace_, places_, outline);
    LocationIndex location = k_none;
    std::optional<StreamTimes> time;
    for_posts(trace_, places_, outline,
              [&](const Outline::Post& post, std::uint32_t k, LocationIndex l) {
                if (std::exchange(location, l) != l) time.emplace(maps_[l]);
                const Side& side = sides[post.channel];
                const auto& events = trace_.locations[l].events;
                side.ends.times[k] = (*time)(events.time(post.instant - places_.first_number(l)));
                side.ends.instants[k] = post.instant;
                side.head->symbols += mix(std::uint64_t{k} << 32 | post.symbol);
              });
  }

  const trace::Trace& trace_;
  const Places& places_;
  std::span<const ClockMap> maps_;
  EndParcels out_;
};

/// Writes the facts about ends in the order of EndWriter.
class FactWriter {
 public:
  explicit FactWriter(const trace::Share& share, const Places& places)
      : trace_(share.trace), places_(places) {
    out_.sends.resize(share.team.size());
  }

  void write(Outline&& outline) {
    const bool some_posted =
        std::any_of(outline.posts.begin(), outline.posts.end(), [&](const Outline::Post& post) {
          return post.channel != k_none &&
                 kind_of(outline.process, post.order) == trace::EventKind::irecv_request;
        });
    std::vector<bool> unposted;
    for (const Outline::Post& post : outline.posts) {
      unposted.push_back(some_posted &&
                         kind_of(outline.process, post.order) == trace::EventKind::irecv);
    }
    order_posts(trace_, places_, outline);
    std::vector<std::pair<BigVector<EndFacts>*, std::size_t>> sides;
    for (const Outline::Channel& channel : outline.channels) {
      BigVector<EndFacts>& facts =
          (channel.send ? out_.sends[places_.owner(channel.key.receiver)] : out_.receives).facts;
      sides.emplace_back(&facts, facts.size());
      facts.resize(facts.size() + channel.count);
    }
    const trace::RecordedClocks clocks(trace_, places_.locations(outline.process));
    for_posts(trace_, places_, outline,
              [&](const Outline::Post& post, std::uint32_t k, LocationIndex l) {
                const std::uint64_t stamp =
                    trace_.locations[l].events.time(post.instant - places_.first_number(l));
                const auto [facts, first] = sides[post.channel];
                const auto i = static_cast<std::size_t>(&post - outline.posts.data());
                (*facts)[first + k] = {.time = clocks[l].time(stamp),
                                       .doubt = clocks[l].doubt(stamp),
                                       .symbol = post.symbol,
                                       .unposted = unposted[i]};
              });
  }

  EndFactParcels take() && { return std::move(out_); }

 private:
  [[nodiscard]] trace::EventKind kind_of(std::uint32_t process, std::uint32_t number) const {
    const EventRef at = places_.event(process, number);
    return trace_.locations[at.location].events.kind(at.event);
  }

  const trace::Trace& trace_;
  const Places& places_;
  EndFactParcels out_;
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

EndFactParcels exchange_facts(const trace::Share& share, const Places& places) {
  LeftOut counted_before;
  Outliner outliner(share.trace, places, Scope::messages, counted_before);
  FactWriter writer(share, places);
  for (std::uint32_t p = 0; p < places.process_count(); ++p) {
    if (places.owner(p) == share.team.rank()) writer.write(outliner.outline(p));
  }
  EndFactParcels facts = std::move(writer).take();
  exchange_part(share.team, facts.sends, &FactParcel::facts);
  return facts;
}

std::vector<CallParcel> write_calls(const trace::Share& share, const Places& places,
                                    std::span<const ClockMap> maps,
                                    std::span<const std::uint32_t> limits,
                                    std::vector<Outline>&& outlines) {
  return CallWriter(share, places, maps, limits).write(std::move(outlines));
}

}  // namespace entrain::verify
