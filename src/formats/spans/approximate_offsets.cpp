// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/approximate_offsets.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace entrain::spans {
namespace {

/// Chosen, not measured.
struct OffsetThresholds {
  static constexpr std::size_t edges_per_host = 64;    ///< mean number in each part of the run
  static constexpr std::size_t most_parts = 64;        ///< largest number of parts
  static constexpr std::size_t least_constraints = 3;  ///< fewer on one side: no offset
  static constexpr std::size_t outlier_divisor = 4;    ///< one constraint in so many may be wrong
};

/// Lower and upper constraints on the offset to add to a clock, ns.
struct Constraints {
  std::vector<std::int64_t> least, most;

  /// The middle of the interval that all but a quarter of them allow; 0 if it contains 0.
  std::int64_t middle() {
    using Threshold = OffsetThresholds;
    if (std::min(least.size(), most.size()) < Threshold::least_constraints) return 0;
    const std::size_t low_outliers = least.size() / Threshold::outlier_divisor;
    const std::size_t high_outliers = most.size() / Threshold::outlier_divisor;
    const auto low_at = least.end() - 1 - static_cast<std::ptrdiff_t>(low_outliers);
    const auto high_at = most.begin() + static_cast<std::ptrdiff_t>(high_outliers);
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

ApproximateOffsets::ApproximateOffsets(std::span<const Edge> edges, std::size_t hosts)
    : hosts_(hosts) {
  std::vector<Edge> accepted;
  for (const Edge& edge : edges) {
    if (edge.rejection == Rejection::none) accepted.push_back(edge);
  }
  std::stable_sort(accepted.begin(), accepted.end(),
                   [](const Edge& a, const Edge& b) { return a.effect_time < b.effect_time; });
  if (!accepted.empty()) {
    first_ = accepted.front().effect_time;
    const std::size_t per_part = hosts * OffsetThresholds::edges_per_host;
    parts_ =
        std::clamp<std::size_t>(2 * accepted.size() / per_part, 1, OffsetThresholds::most_parts);
    length_ = (accepted.back().effect_time - first_) / parts_ + 1;
  }
  offsets_.assign(parts_ * hosts_, 0);
  for (auto begin = accepted.begin(); begin != accepted.end();) {
    const std::size_t part = part_of(begin->effect_time);
    const auto end = std::find_if(
        begin, accepted.end(), [&](const Edge& edge) { return part_of(edge.effect_time) != part; });
    find(part, {begin, end});
    begin = end;
  }
}

std::size_t ApproximateOffsets::part_of(std::uint64_t time) const {
  return time <= first_ ? 0 : std::min<std::size_t>((time - first_) / length_, parts_ - 1);
}

/// Sets the clocks with the largest errors first: afterwards the others may agree.
void ApproximateOffsets::find(std::size_t part, std::span<const Edge> edges) {
  const std::span<std::int64_t> own = std::span(offsets_).subspan(part * hosts_, hosts_);
  std::vector<std::vector<const Edge*>> of_host(hosts_);
  for (const Edge& edge : edges) {
    of_host[edge.cause].push_back(&edge);
    of_host[edge.effect].push_back(&edge);
  }
  const auto middle_of = [&](std::uint32_t host) {
    Constraints constraints;
    for (const Edge* edge : of_host[host]) {
      if (edge->cause == host) {
        constraints.most.push_back(distance(edge->cause_time, edge->effect_time) +
                                   own[edge->effect]);
      } else {
        constraints.least.push_back(own[edge->cause] -
                                    distance(edge->cause_time, edge->effect_time));
      }
    }
    return constraints.middle();
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
