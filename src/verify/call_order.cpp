// SPDX-License-Identifier: BSD-3-Clause
#include "verify/call_order.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/flat_map.hpp"

namespace entrain::verify {

namespace {

/// An operation on a channel or in a column that is not stored in order. Stamps as stored, where
/// threads share it: they share a clock, so stamps say who was first; else 0.
struct Unordered {
  std::uint32_t group = 0;  ///< number of the channel or column
  std::uint32_t order = 0;  ///< number of the event at which it began
  std::uint32_t index = 0;  ///< index among all operations
  LocationIndex location = k_none;
  std::uint64_t begin = 0;
  // At least the values of earlier calls that its thread began at the same stamp:
  std::uint64_t over = 0;   ///< earliest begin of another thread's call; requests take no time
  std::uint64_t until = 0;  ///< its end
};

/// Sets the positions of operations in their groups; those of each thread stay in stream order.
template <class Operations>
void set_positions(std::vector<Unordered>& unordered, Operations& operations) {
  const auto in_stream = [](const Unordered& one) {
    return std::tuple(one.group, one.order, one.index);
  };
  const auto by_time = [](const Unordered& one) {
    return std::tuple(one.group, one.begin, one.over, one.until);
  };
  std::ranges::sort(unordered, {}, in_stream);
  for (std::size_t i = 1; i < unordered.size(); ++i) {
    const Unordered& before = unordered[i - 1];
    Unordered& one = unordered[i];
    if (one.group != before.group || one.location != before.location || one.begin != before.begin) {
      continue;
    }
    one.over = std::max(one.over, before.over);
    one.until = std::max(one.until, before.until);
  }
  std::ranges::stable_sort(unordered, {}, by_time);
  std::uint32_t position = 0;
  for (std::size_t i = 0; i < unordered.size(); ++i) {
    position = i > 0 && unordered[i].group == unordered[i - 1].group ? position + 1 : 0;
    operations[unordered[i].index].order = position;
  }
}

/// An event of a process by its number, with its location.
struct Located {
  Located(const trace::Trace& trace, const Places& places, std::uint32_t process,
          std::uint32_t number)
      : at(places.event(process, number)), events(trace.locations[at.location].events) {}
  [[nodiscard]] std::uint64_t time() const { return events.time(at.event); }

  EventRef at;
  const trace::EventList& events;
};

}  // namespace

void order_posts(const trace::Trace& trace, const Places& places, Outline& outline) {
  const bool single = places.is_single(outline.process);
  std::vector<Unordered> unordered;
  for (std::uint32_t i = 0; i < outline.posts.size(); ++i) {
    const Outline::Post& post = outline.posts[i];
    if (post.channel == k_none || !outline.channels[post.channel].disordered) continue;
    Unordered one{.group = post.channel, .order = post.order, .index = i};
    if (!single) one.begin = Located(trace, places, outline.process, post.order).time();
    unordered.push_back(one);
  }
  set_positions(unordered, outline.posts);
  std::vector<std::uint32_t> next(outline.channels.size(), 0);
  for (Outline::Post& post : outline.posts) {
    if (post.channel == k_none) continue;
    Outline::Channel& channel = outline.channels[post.channel];
    if (!channel.disordered) post.order = next[post.channel]++;
    channel.symbols += mix(std::uint64_t{post.order} << 32 | post.symbol);
  }
}

void order_calls(const trace::Trace& trace, const Places& places, Outline& outline) {
  const auto locate = [&](std::uint32_t number) {
    return Located(trace, places, outline.process, number);
  };
  const auto is_unordered = [](const Outline::Column& column) {
    return column.several || column.disordered;
  };
  std::vector<Unordered> unordered;
  for (std::uint32_t i = 0; i < outline.calls.size(); ++i) {
    const Outline::Call& call = outline.calls[i];
    const Outline::Column& column = outline.columns[call.column];
    if (!is_unordered(column)) continue;
    Unordered one{.group = call.column, .order = call.order, .index = i};
    if (column.several) {
      const Located end = locate(call.event);
      const bool request = end.events.kind(end.at.event) == trace::EventKind::nb_complete;
      one.location = end.at.location;
      one.begin = end.events.time(call.order - places.first_number(end.at.location));
      one.until = end.time();
      one.over = request ? one.begin : one.until;
    }
    unordered.push_back(one);
  }
  set_positions(unordered, outline.calls);
  std::vector<std::uint32_t> next(outline.columns.size(), 0);
  for (Outline::Call& call : outline.calls) {
    Outline::Column& column = outline.columns[call.column];
    if (!is_unordered(column)) call.order = next[call.column]++;
    const Located at = locate(call.event);
    const trace::Event end = at.events[at.at.event];
    const bool blocking = end.kind != trace::EventKind::nb_complete;
    column.operations += mix(std::uint64_t{call.order} << 32 | end.op | (blocking ? 0x100U : 0U));
  }
}

}  // namespace entrain::verify
