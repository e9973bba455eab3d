// SPDX-License-Identifier: BSD-3-Clause
#include "constraints/constrained_clocks.hpp"

#include <algorithm>
#include <limits>

#include "base/cancel.hpp"
#include "base/disjoint_sets.hpp"
#include "base/flat_map.hpp"
#include "base/try.hpp"
#include "clocks/presync.hpp"
#include "constraints/edge_constraints.hpp"
#include "match/parts.hpp"

namespace entrain::constraints {

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
  constraints_ = {};  // frees memory first: both sets together would be the peak
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

bool ConstrainedClocks::messages_connect() const {
  struct Direction {
    std::uint32_t from = 0, to = 0;
  };
  const auto key_of = [&](const Direction& way) {
    return std::uint64_t{way.from} * clocks_ + way.to;
  };
  FlatMap<std::uint64_t, char, IntegerHash> known;
  std::vector<Direction> own;
  const std::span<const std::int64_t> times = times_;
  match::for_edges(context_.graph, {context_.graph.edges, {}}, times,
                   [&](const match::Edge&, LocationIndex from, LocationIndex to) {
                     const Direction way{clock_of(from), clock_of(to)};
                     if (known.insert(key_of(way), 0).second) own.push_back(way);
                   });
  DisjointSets sets(clocks_);
  std::size_t parts = clocks_;
  known = {};
  for (const Direction& way : gather_everywhere(team(), own)) {
    known.insert(key_of(way), 0);
    if (known.find(key_of({way.to, way.from})) == nullptr) continue;
    if (sets.join(way.from, way.to)) --parts;
  }
  return parts <= 1;
}

CallEnds ConstrainedClocks::ends_of_calls(std::size_t most) const {
  const match::Graph& graph = context_.graph;
  std::vector<std::span<const match::Participant>> own_calls;  // participants that leave
  std::vector<std::int64_t> own_firsts;                        // first time of leaving each
  for (const match::Exchange& exchange : graph.exchanges) {
    if (exchange.kind != EdgeKind::n_to_n || exchange.ordered) continue;
    const std::span<const match::Participant> leave = graph.receives(exchange);
    if (leave.size() < 2 || exchange.send_count != exchange.receive_count) continue;
    own_calls.push_back(leave);
    own_firsts.push_back(times_[leave.front().node]);
    for (const match::Participant& one : leave) {
      own_firsts.back() = std::min(own_firsts.back(), times_[one.node]);
    }
  }
  std::vector<std::int64_t> all = gather_everywhere(team(), own_firsts);
  std::sort(all.begin(), all.end());
  const std::size_t step = (all.size() + most - 1) / most;
  std::vector<std::int64_t> taken;
  for (std::size_t i = 0; i < all.size(); i += step) taken.push_back(all[i]);
  struct End {
    std::int64_t call = 0;     ///< first end of the call
    std::uint32_t number = 0;  ///< local number of the call, separates calls of one time
    CallEnds::End end;
  };
  std::vector<End> ends;
  for (std::uint32_t n = 0; n < own_calls.size(); ++n) {
    if (!std::ranges::binary_search(taken, own_firsts[n])) continue;
    for (const match::Participant& one : own_calls[n]) {
      const auto time = static_cast<std::uint64_t>(times_[one.node]);
      ends.push_back({own_firsts[n], n, {clock_of(one.location), time}});
    }
  }
  // Calls in order of time, independent of the processes.
  std::vector<std::pair<std::int64_t, std::vector<CallEnds::End>>> calls;
  const End* before = nullptr;
  const std::vector<End> gathered = gather_everywhere(team(), ends);
  for (const End& one : gathered) {
    if (before == nullptr || before->call != one.call || before->number != one.number) {
      calls.push_back({one.call, {}});
    }
    calls.back().second.push_back(one.end);
    before = &one;
  }
  for (auto& [first, call] : calls) std::sort(call.begin(), call.end());
  std::sort(calls.begin(), calls.end());
  CallEnds result;
  for (const auto& [first, call] : calls) {
    result.first.push_back(result.ends.size());
    result.ends.insert(result.ends.end(), call.begin(), call.end());
  }
  result.first.push_back(result.ends.size());
  return result;
}

bool ConstrainedClocks::replace_maps(const MapOf& map_of) {
  std::vector<ClockMap> maps = maps_;
  bool good = true;
  for (const std::uint32_t clock : own_clocks_) {
    const trace::LocationSkeleton stamps = extent(clock);
    if (stamps.event_count == 0) continue;
    const Result<std::optional<ClockMap>> map = map_of(clock, stamps);
    good = good && map;
    if (!map || !*map) continue;
    for (const LocationIndex l : domains_.members[clock]) maps[l] = **map;
  }
  if (team().any(!good)) return false;
  set_maps(std::move(maps));
  return true;
}

namespace {

/// First stamp from `low` on whose time is at least `time`; `high` if there is none before.
std::uint64_t stamp_at(const ClockMap& map, std::int64_t time, std::uint64_t low,
                       std::uint64_t high) {
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (map(middle) < time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

Result<ClockMap> bent_map(const ClockMap& map, const trace::LocationSkeleton& stamps,
                          std::span<const std::int64_t> times,
                          const std::function<std::int64_t(std::int64_t)>& move) {
  const std::uint64_t first = stamps.first, last = std::max(stamps.last, first + 1);
  std::vector<std::uint64_t> locals{first, last};
  for (const ClockKnot& knot : map.knots()) {
    if (knot.local > first && knot.local < last) locals.push_back(knot.local);
  }
  std::uint64_t local = first;
  for (const std::int64_t time : times) {
    if (time <= map(first) || time >= map(last)) continue;
    local = stamp_at(map, time, local, last);
    if (local < last) locals.push_back(local);
  }
  std::sort(locals.begin(), locals.end());
  locals.erase(std::unique(locals.begin(), locals.end()), locals.end());
  std::vector<ClockKnot> knots;
  for (const std::uint64_t stamp : locals) {
    const std::int64_t time = map(stamp);
    knots.push_back({stamp, time - static_cast<std::int64_t>(stamp) + move(time)});
  }
  TRY_ASSIGN(const ClockMap bent, ClockMap::from_knots(std::move(knots)));
  TRY_ASSIGN(ClockMap straight, clocks::straight_in_flushes(bent, stamps));
  if (!straight.is_monotone()) return fail(ErrorKind::input, "time would run backward");
  return straight;
}

}  // namespace entrain::constraints
