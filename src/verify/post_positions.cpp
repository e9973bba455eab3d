// SPDX-License-Identifier: BSD-3-Clause
#include "verify/post_positions.hpp"

#include <algorithm>
#include <tuple>

namespace entrain::verify {

PostPositions::PostPositions(const trace::Trace& trace, const Places& places, Outline& outline)
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

}  // namespace entrain::verify
