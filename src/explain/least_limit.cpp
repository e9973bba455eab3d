// SPDX-License-Identifier: BSD-3-Clause
#include "explain/least_limit.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "difference/least_limits.hpp"
#include "explain/given_constraints.hpp"

namespace entrain::explain {

namespace {

constexpr std::int64_t k_largest_limit_ppb = k_billion / 10;
/// Steps of the search: some seconds, and about so many sweeps over all edges.
constexpr std::uint64_t k_steps_of_limit = std::uint64_t{1} << 28, k_sweeps_of_limit = 2048;

/// First and last stamps of clocks, of events or in constraints.
std::vector<difference::MeanLimit> lives_of(const Clocks& run,
                                            const difference::Constraints& constraints,
                                            std::uint64_t base) {
  std::vector<difference::MeanLimit> lives(
      constraints.clocks.size(), {.first = std::numeric_limits<std::int64_t>::max(), .last = -1});
  for (std::size_t c = 0; c < run.clocks.size(); ++c) {
    const auto& events = run.clocks[c].events;
    if (!events || events->first > events->last) continue;
    lives[c].first = static_cast<std::int64_t>(events->first - base);  // may be before it
    lives[c].last = static_cast<std::int64_t>(events->last - base);
  }
  for_each_event(constraints, [&](const difference::Event& event) {
    difference::MeanLimit& life = lives[event.clock];
    life.first = std::min(life.first, event.stamp);
    life.last = std::max(life.last, event.stamp);
  });
  return lives;
}

}  // namespace

LeastLimit find_least_limit(const Clocks& run, const Edges& edges, const RateLimits& limits) {
  const GivenConstraints given(run.clocks.size(), edges, 0);
  if (!given.fit()) return tl::unexpected(NoLimit::too_long);
  difference::Constraints constraints = given.view();
  constraints.reference = limits.reference;
  constraints.instances = constraints.instances.first(edges.instances.size());  // no equal ends
  std::vector<difference::ClockLimits> clocks(constraints.clocks.size());
  std::vector<difference::RateRange> means;
  const auto lives = lives_of(run, constraints, given.base());
  for (std::uint32_t c = 0; c < clocks.size(); ++c) {
    if (lives[c].first < lives[c].last) clocks[c].mean = lives[c];
    const bool is_fixed = c == limits.reference || c >= run.clocks.size();
    means.push_back(difference::RateRange::within(is_fixed ? 0 : limits.mean_ppb));
  }
  constraints.clocks = clocks;
  difference::System system(constraints);
  difference::Effort effort{.most = k_steps_of_limit + k_sweeps_of_limit * system.nodes()};
  const std::vector<std::int64_t> near(clocks.size(), 0);
  const auto found = find_least_limits(system, means, limits.wander_ppb, near, effort);
  const bool is_known = found ? found->is_least : found.error().certificate.has_value();
  if (!is_known) return tl::unexpected(NoLimit::too_long);
  const std::int64_t ppb = found ? (limits.wander_ppb ? limits.mean_ppb : 0) + found->ppb : 0;
  if (!found || ppb > k_largest_limit_ppb) return tl::unexpected(NoLimit::impossible);
  return ppb;
}

}  // namespace entrain::explain
