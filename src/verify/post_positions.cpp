// SPDX-License-Identifier: BSD-3-Clause
#include "verify/post_positions.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>

namespace entrain::verify {

PostPositions::PostPositions(const trace::Trace& trace, const Places& places, Outline& outline)
    : channels_(outline.channels), next_(channels_.size(), 0) {
  BigVector<Outline::Post>& posts = outline.posts;
  // Sorted channel by channel, as one sort of all posts would compare more.
  std::vector<std::uint32_t> begin(channels_.size() + 1, 0);
  const auto disordered = [&](const Outline::Post& post) {
    return post.channel != k_none && channels_[post.channel].disordered;
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
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    const auto of_channel = std::span(ordered).subspan(begin[c], begin[c + 1] - begin[c]);
    std::sort(of_channel.begin(), of_channel.end(),
              [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
    for (std::uint32_t k = 0; k < of_channel.size(); ++k) posts[of_channel[k]].order = k;
  }
}

}  // namespace entrain::verify
