// SPDX-License-Identifier: BSD-3-Clause
#include "spans/rough_offsets.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace entrain::spans {
namespace {

constexpr std::size_t k_per_host = 64;  ///< edges of a part, about
constexpr std::size_t k_most_parts = 64;
constexpr std::size_t k_least = 3;  ///< limits on each side
constexpr std::size_t k_liars = 4;  ///< one limit in this many may be wrong

/// Limits on what is to be added to a clock.
struct Limits {
  std::vector<std::int64_t> least, most;

  /// The middle of what all but a quarter of them allow, if that excludes 0; else 0.
  std::int64_t middle() {
    if (least.size() < k_least || most.size() < k_least) return 0;
    const auto low_at = least.end() - 1 - static_cast<std::ptrdiff_t>(least.size() / k_liars);
    const auto high_at = most.begin() + static_cast<std::ptrdiff_t>(most.size() / k_liars);
    std::nth_element(least.begin(), low_at, least.end());
    std::nth_element(most.begin(), high_at, most.end());
    const std::int64_t low = std::min(*low_at, *high_at), high = std::max(*low_at, *high_at);
    return low > 0 || high < 0 ? low + (high - low) / 2 : 0;
  }
};

std::int64_t distance(std::uint64_t from, std::uint64_t to) {
  return static_cast<std::int64_t>(to - from);
}

}  // namespace

RoughOffsets::RoughOffsets(std::span<const Edge> edges, std::size_t hosts) : hosts_(hosts) {
  std::vector<Edge> believed;
  for (const Edge& edge : edges) {
    if (edge.doubt == Doubt::none) believed.push_back(edge);
  }
  std::stable_sort(believed.begin(), believed.end(),
                   [](const Edge& a, const Edge& b) { return a.effect_time < b.effect_time; });
  if (!believed.empty()) {
    first_ = believed.front().effect_time;
    parts_ = std::clamp<std::size_t>(2 * believed.size() / (hosts * k_per_host), 1, k_most_parts);
    length_ = (believed.back().effect_time - first_) / parts_ + 1;
  }
  offsets_.assign(parts_ * hosts_, 0);
  for (auto begin = believed.begin(); begin != believed.end();) {
    const std::size_t part = part_of(begin->effect_time);
    const auto end = std::find_if(
        begin, believed.end(), [&](const Edge& edge) { return part_of(edge.effect_time) != part; });
    find(part, {begin, end});
    begin = end;
  }
}

std::size_t RoughOffsets::part_of(std::uint64_t time) const {
  return time <= first_ ? 0 : std::min<std::size_t>((time - first_) / length_, parts_ - 1);
}

/// Those that seem the most wrong come first: once they are set, the others seem right.
void RoughOffsets::find(std::size_t part, std::span<const Edge> edges) {
  const std::span<std::int64_t> own = std::span(offsets_).subspan(part * hosts_, hosts_);
  std::vector<std::vector<const Edge*>> of_host(hosts_);
  for (const Edge& edge : edges) {
    of_host[edge.cause].push_back(&edge);
    of_host[edge.effect].push_back(&edge);
  }
  const auto middle_of = [&](std::uint32_t host) {
    Limits limits;
    for (const Edge* edge : of_host[host]) {
      if (edge->cause == host) {
        limits.most.push_back(distance(edge->cause_time, edge->effect_time) + own[edge->effect]);
      } else {
        limits.least.push_back(own[edge->cause] - distance(edge->cause_time, edge->effect_time));
      }
    }
    return limits.middle();
  };
  std::vector<std::pair<std::int64_t, std::uint32_t>> wrong;
  for (std::uint32_t host = 0; host < hosts_; ++host) {
    const std::int64_t middle = middle_of(host);
    if (middle != 0) wrong.emplace_back(-std::abs(middle), host);
  }
  std::stable_sort(wrong.begin(), wrong.end(), [&](const auto& a, const auto& b) {
    return of_host[a.second].size() > of_host[b.second].size();
  });
  std::stable_sort(wrong.begin(), wrong.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [middle, host] : wrong) own[host] = middle_of(host);
}

}  // namespace entrain::spans
