// SPDX-License-Identifier: BSD-3-Clause
#include "verify/call_order.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/flat_map.hpp"

namespace entrain::verify {

namespace {

/// A call of an unordered column. Stamps as stored; 0 if only one thread calls.
struct Timed {
  std::uint32_t column = 0;
  std::uint64_t begin = 0;
  // At least the values of earlier calls that its thread began at the same stamp:
  std::uint64_t over = 0;   ///< earliest begin of another thread's call; requests take no time
  std::uint64_t until = 0;  ///< its end
  LocationIndex location = k_none;
  std::uint32_t call = 0;  ///< index in Outline::calls

  [[nodiscard]] auto place() const { return std::tuple(column, begin, over, until); }
};

/// Returns the calls of unordered columns; those of each thread are in stream order.
std::vector<Timed> calls_to_order(const trace::Trace& trace, const Places& places,
                                  const Outline& outline) {
  std::vector<Timed> calls;
  for (std::uint32_t i = 0; i < outline.calls.size(); ++i) {
    const Outline::Call& call = outline.calls[i];
    const Outline::Column& column = outline.columns[call.column];
    if (!column.several && !column.disordered) continue;
    Timed timed{.column = call.column, .call = i};
    if (column.several) {
      const EventRef end = places.event(outline.process, call.event);
      const auto& events = trace.locations[end.location].events;
      timed.location = end.location;
      timed.begin = events.time(call.order - places.first_number(end.location));
      timed.until = events.time(end.event);
      const bool request = events.kind(end.event) == trace::EventKind::nb_complete;
      timed.over = request ? timed.begin : timed.until;
    }
    calls.push_back(timed);
  }
  const auto order = [&](const Timed& timed) { return outline.calls[timed.call].order; };
  std::sort(calls.begin(), calls.end(), [&](const Timed& a, const Timed& b) {
    return std::pair(a.column, order(a)) < std::pair(b.column, order(b));
  });
  return calls;
}

}  // namespace

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
  std::vector<std::uint32_t> next(channels.size(), 0);
  for (Outline::Post& post : posts) {
    if (post.channel == k_none) continue;
    Outline::Channel& channel = outline.channels[post.channel];
    if (!channel.disordered) post.order = next[post.channel]++;
    channel.symbols += mix(std::uint64_t{post.order} << 32 | post.symbol);
  }
}

void order_calls(const trace::Trace& trace, const Places& places, Outline& outline) {
  std::vector<Timed> calls = calls_to_order(trace, places, outline);
  const auto same_column = [&](std::size_t i) {
    return i > 0 && calls[i].column == calls[i - 1].column;
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (same_column(i) && calls[i].location == calls[i - 1].location &&
        calls[i].begin == calls[i - 1].begin) {
      calls[i].over = std::max(calls[i].over, calls[i - 1].over);
      calls[i].until = std::max(calls[i].until, calls[i - 1].until);
    }
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const Timed& a, const Timed& b) { return a.place() < b.place(); });
  std::uint32_t position = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Outline::Call& call = outline.calls[calls[i].call];
    position = same_column(i) ? position + 1 : 0;
    call.order = position;
  }
  std::vector<std::uint32_t> next(outline.columns.size(), 0);
  for (Outline::Call& call : outline.calls) {
    Outline::Column& column = outline.columns[call.column];
    if (!column.several && !column.disordered) call.order = next[call.column]++;
    const EventRef at = places.event(outline.process, call.event);
    const trace::Event end = trace.locations[at.location].events[at.event];
    const bool blocking = end.kind != trace::EventKind::nb_complete;
    column.operations += mix(std::uint64_t{call.order} << 32 | end.op | (blocking ? 0x100U : 0U));
  }
}

}  // namespace entrain::verify
