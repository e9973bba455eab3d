// SPDX-License-Identifier: BSD-3-Clause
#include "lines/offsets.hpp"

#include <algorithm>

namespace entrain::lines {
namespace {

using difference::Exact;
using difference::Node;
using difference::Values;

constexpr std::int64_t k_farthest = std::int64_t{1} << 55;      ///< ticks; sums never overflow
constexpr std::uint64_t k_most_steps = std::uint64_t{1} << 27;  ///< takes a second or so

/// The value that a node would have without its limits.
Exact wish(Exact lower, Exact upper) {
  if (lower <= 0 && upper >= 0) return 0;
  if (difference::is_unbounded(lower) || difference::is_unbounded(upper)) return 0;
  return (lower + upper) / 2;
}

}  // namespace

void Offsets::add(std::span<const constraints::ClockConstraint> constraints,
                  std::span<const std::int64_t> moved) {
  for (const constraints::ClockConstraint& one : constraints) {
    const std::int64_t held = std::clamp(one.slack, -k_farthest, k_farthest);
    const std::int64_t slack = held - moved[one.to] + moved[one.from];
    const auto [found, is_new] = tightest_.try_emplace({one.from, one.to}, slack);
    if (!is_new) found->second = std::min(found->second, slack);
  }
}

difference::System Offsets::system() const {
  const auto count = static_cast<std::uint32_t>(fixed_.size());
  const std::vector<difference::ClockLimits> rigid(fixed_.size() + 1);
  std::vector<difference::Edge> edges;
  std::vector<difference::Session> sessions;
  for (const auto& [pair, slack] : tightest_) {
    edges.push_back({{pair.first, 0}, {pair.second, 0}, -slack});
  }
  for (std::uint32_t c = 0; c < count; ++c) {
    if (fixed_[c] != 0) sessions.push_back({{c, 0}, 0, 0});
  }
  return difference::System(
      {.clocks = rigid, .reference = count, .edges = edges, .sessions = sessions});
}

std::optional<std::vector<std::int64_t>> Offsets::find() const {
  const difference::System system = this->system();
  difference::Effort effort{.most = k_most_steps};
  const auto bounds = find_bounds(system, effort);
  if (!bounds) return std::nullopt;
  Values wishes(system.nodes(), 0);
  for (Node node = 1; node < system.nodes(); ++node) {
    wishes[node] = wish(bounds->lower[node], bounds->upper[node]);
  }
  auto solution = project(system, *bounds, wishes, effort);
  // Centres and clocks that do not move may contradict each other. The least moves never do.
  if (solution && !std::equal(solution->begin(), solution->end(), wishes.begin())) {
    solution = project(system, *bounds, Values(system.nodes(), 0), effort);
  }
  if (!solution) return std::nullopt;
  return ticks_of(system, *solution);
}

std::optional<std::vector<std::int64_t>> Offsets::find_least() const {
  const difference::System system = this->system();
  difference::Effort effort{.most = k_most_steps};
  const auto least = least_above(system, Values(system.nodes(), 0), effort);
  if (!least) return std::nullopt;
  return ticks_of(system, *least);
}

std::vector<std::int64_t> Offsets::ticks_of(const difference::System& system,
                                            const Values& values) const {
  std::vector<std::int64_t> offsets(fixed_.size(), 0);
  for (Node node = 1; node < system.stamped(); ++node)
    offsets[system.clock(node)] = difference::floor_ticks(values[node]);
  return offsets;
}

}  // namespace entrain::lines
