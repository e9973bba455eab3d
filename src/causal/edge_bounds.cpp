// SPDX-License-Identifier: BSD-3-Clause
#include "causal/edge_bounds.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/cancel.hpp"
#include "causal/edge_limits.hpp"
#include "causal/node_times.hpp"
#include "clocks/presync.hpp"

namespace entrain::causal {

EdgeBounds::EdgeBounds(const Context& context, const trace::ClockDomains& domains,
                       std::vector<ClockMap>& maps)
    : component_of(domains.count(), 0),
      context_(context),
      domains_(domains),
      maps_(maps),
      clocks_(domains.count()) {
  for (const LocationIndex l : context.share.own()) {
    if (domains.members[clock_of(l)].front() == l) own_clocks_.push_back(clock_of(l));
  }
}

void EdgeBounds::evaluate() {
  begin_ = std::numeric_limits<std::int64_t>::max();
  end_ = std::numeric_limits<std::int64_t>::min();
  for (const LocationIndex l : context_.share.own()) {
    const trace::LocationSkeleton& location = context_.trace().locations[l];
    if (location.event_count == 0) continue;
    begin_ = std::min(begin_, maps_[l](location.first));
    end_ = std::max(end_, maps_[l](location.last));
  }
  begin_ = team().reduce(Team::Reduction::min, begin_);
  end_ = team().reduce(Team::Reduction::max, end_);
  evaluate_nodes(context_, times_, [&](LocationIndex l) { return ClockMap::Cursor(maps_[l]); });
}

void EdgeBounds::collect(const ClockErrors* errors) {
  BoundOptions options;
  options.times = times_;
  options.clock_of = domains_.of;
  options.clocks = static_cast<std::uint32_t>(clocks_);
  options.mu = context_.mu;
  options.begin = begin_;
  options.end = end_;
  options.windows = k_windows;
  options.errors = errors;
  options.threads = context_.threads;
  bounds = collect_bounds(team(), context_.graph, options);
  std::erase_if(bounds, [&](const CausalBound& bound) {
    return component_of[bound.from] != component_of[bound.to];
  });
}

void EdgeBounds::take(std::vector<ClockMap> maps) {
  maps_ = std::move(maps);
  clocks::avoid_negative_times(context_.share, maps_);
  evaluate();
}

Result<void> EdgeBounds::check_cancelled() const { return Cancel(context_.progress).agree(team()); }

double EdgeBounds::sum_of_squared_violations() const {
  double sum = 0;
  for (const CausalBound& bound : bounds) {
    const double below = std::min(static_cast<double>(bound.slack), 0.0);
    sum += below * below;
  }
  return sum;
}

double EdgeBounds::worst_violation() const {
  std::int64_t worst = 0;
  for (const CausalBound& bound : bounds) worst = std::max(worst, -bound.slack);
  return static_cast<double>(worst);
}

trace::LocationSkeleton EdgeBounds::extent(std::uint32_t clock) const {
  return trace::extent_of(context_.trace(), domains_.members[clock]);
}

const ClockMap& EdgeBounds::map_of(std::uint32_t clock) const {
  return maps_[domains_.members[clock].front()];
}

void EdgeBounds::set_map(std::vector<ClockMap>& maps, std::uint32_t clock,
                         const ClockMap& map) const {
  for (const LocationIndex l : domains_.members[clock]) maps[l] = map;
}

}  // namespace entrain::causal
