// SPDX-License-Identifier: BSD-3-Clause
#include "causal/constrained_clocks.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/cancel.hpp"
#include "causal/edge_constraints.hpp"
#include "causal/node_times.hpp"
#include "clocks/presync.hpp"

namespace entrain::causal {

ConstrainedClocks::ConstrainedClocks(const Context& context, const trace::ClockDomains& domains,
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

void ConstrainedClocks::evaluate() {
  current_ = false;
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

void ConstrainedClocks::collect_all() {
  find_constraints(nullptr);
  current_ = false;
}

void ConstrainedClocks::collect(const ClockErrors* errors) {
  if (errors == nullptr && current_ && components_ == component_of) return;
  find_constraints(errors);
  std::erase_if(constraints_, [&](const ClockConstraint& constraint) {
    return component_of[constraint.from] != component_of[constraint.to];
  });
  current_ = errors == nullptr;
  components_ = component_of;
}

void ConstrainedClocks::find_constraints(const ClockErrors* errors) {
  ConstraintOptions options;
  options.times = times_;
  options.clock_of = domains_.of;
  options.clocks = static_cast<std::uint32_t>(clocks_);
  options.mu = context_.mu;
  options.begin = begin_;
  options.end = end_;
  options.windows = k_windows;
  options.errors = errors;
  options.threads = context_.threads;
  constraints_ = collect_constraints(team(), context_.graph, options);
}

void ConstrainedClocks::set_maps(std::vector<ClockMap> maps) {
  maps_ = std::move(maps);
  clocks::avoid_negative_times(context_.share, maps_);
  evaluate();
}

Result<void> ConstrainedClocks::check_cancelled() const {
  return Cancel(context_.progress).agree(team());
}

double ConstrainedClocks::sum_of_squared_violations() const {
  double sum = 0;
  for (const ClockConstraint& constraint : constraints_) {
    const double below = std::min(static_cast<double>(constraint.slack), 0.0);
    sum += below * below;
  }
  return sum;
}

double ConstrainedClocks::worst_violation() const {
  std::int64_t worst = 0;
  for (const ClockConstraint& constraint : constraints_) worst = std::max(worst, -constraint.slack);
  return static_cast<double>(worst);
}

trace::LocationSkeleton ConstrainedClocks::extent(std::uint32_t clock) const {
  return trace::extent_of(context_.trace(), domains_.members[clock]);
}

void ConstrainedClocks::set_map(std::vector<ClockMap>& maps, std::uint32_t clock,
                                const ClockMap& map) const {
  for (const LocationIndex l : domains_.members[clock]) maps[l] = map;
}

}  // namespace entrain::causal
