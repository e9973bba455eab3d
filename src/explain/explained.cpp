// SPDX-License-Identifier: BSD-3-Clause
#include "explain/explained.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "explain/given_constraints.hpp"

namespace entrain::explain {

namespace {

constexpr std::size_t k_most_constraints = std::size_t{1} << 21;
/// Steps of the search: about a second, and about so many sweeps over all edges.
constexpr std::uint64_t k_most_steps = std::uint64_t{1} << 26, k_sweeps = 256;

/// Adds the part of a map between two stamps.
void add_part(const ClockMap& map, std::uint64_t first, std::uint64_t last,
              std::vector<ClockKnot>& knots) {
  const auto add = [&](std::uint64_t stamp) {
    knots.push_back({stamp, map(stamp) - static_cast<std::int64_t>(stamp)});
  };
  add(first);
  for (const ClockKnot& knot : map.knots()) {
    if (knot.local > first && knot.local < last) knots.push_back(knot);
  }
  if (last > first) add(last);
}

}  // namespace

std::optional<Explained> Explained::find(const Clocks& run, const Edges& edges,
                                         std::int64_t rate_ppb) {
  const std::size_t size = edges.cause_clock.size() + edges.members.size();
  if (size > k_most_constraints) return std::nullopt;
  const GivenConstraints constraints(run.clocks.size(), edges, rate_ppb);
  if (!constraints.fit()) return std::nullopt;
  difference::Effort effort{.most = k_most_steps + k_sweeps * size};
  auto explanation = explain(constraints.view(), effort);
  if (!explanation || explanation->bits == 0) return std::nullopt;
  return Explained(run, edges, constraints.base(), *std::move(explanation));
}

Explained::Explained(const Clocks& run, const Edges& edges, std::uint64_t base,
                     Explanation explanation)
    : run_(&run), base_(base), explanation_(std::move(explanation)) {
  divide_clocks();
  list_ =
      regroup(edges, {[&](std::uint32_t clock, std::uint64_t time) { return part_of(clock, time); },
                      explanation_.edges, explanation_.instances});
}

void Explained::divide_clocks() {
  clocks_ = {.name = run_->name, .resolution_hz = run_->resolution_hz, .clocks = {}};
  for (std::uint32_t c = 0; c < run_->clocks.size(); ++c) {
    first_.push_back(static_cast<std::uint32_t>(clocks_.clocks.size()));
    clocks_.clocks.push_back(run_->clocks[c]);
    for (const Step& step : steps_of(c)) {
      Clock after = clocks_.clocks.back();
      after.name += ", set";
      if (after.events) {
        clocks_.clocks.back().events->last = time_of(step.before);
        after.events->first = time_of(step.after);
      }
      clocks_.clocks.push_back(std::move(after));
    }
  }
}

std::span<const Step> Explained::steps_of(std::uint32_t clock) const {
  return std::ranges::equal_range(explanation_.steps, clock, {}, &Step::clock);
}

std::uint32_t Explained::part_of(std::uint32_t clock, std::uint64_t time) const {
  const auto steps = steps_of(clock);
  const auto before =
      std::ranges::count_if(steps, [&](const Step& step) { return time_of(step.after) <= time; });
  return first_[clock] + static_cast<std::uint32_t>(before);
}

std::optional<std::vector<ClockMap>> Explained::join(std::span<const ClockMap> maps,
                                                     const trace::Trace& trace) const {
  std::vector<ClockMap> joined;
  for (std::uint32_t c = 0; c < run_->clocks.size(); ++c) {
    std::uint32_t part = first_[c];
    joined.push_back(maps[part]);
    if (steps_of(c).empty()) continue;
    std::vector<ClockKnot> knots;
    std::uint64_t first = trace.locations[c].first;
    const std::uint64_t last = trace.locations[c].last;
    for (const Step& step : steps_of(c)) {
      add_part(maps[part++], first, time_of(step.before), knots);
      first = time_of(step.after);
    }
    add_part(maps[part], first, last, knots);
    Result<ClockMap> map = ClockMap::from_knots(std::move(knots));
    if (!map || !map->keeps_order(trace.locations[c].first, last)) return std::nullopt;
    joined.back() = *std::move(map);
  }
  return joined;
}

std::string Explained::words_for(std::uint64_t time) const {
  constexpr std::uint64_t k_year_2000 = 946'684'800, k_s_per_day = 86'400;
  const std::uint64_t second = time / run_->resolution_hz, of_day = second % k_s_per_day;
  if (second < k_year_2000) return fmt::format("{} s", second);
  return fmt::format("{:02}:{:02}:{:02} UTC", of_day / 3600, of_day / 60 % 60, of_day % 60);
}

std::vector<std::string> Explained::sentences(std::span<const ClockMap> maps) const {
  std::vector<std::string> result;
  const double ms = static_cast<double>(run_->resolution_hz) / 1e3;
  for (const Step& step : explanation_.steps) {
    const auto offset = [&](std::int64_t stamp) {
      return maps[step.clock](time_of(stamp)) - static_cast<std::int64_t>(time_of(stamp));
    };
    const auto size = static_cast<double>(offset(step.before) - offset(step.after));
    result.push_back(fmt::format("the clock of {} was set by {:+.3f} ms at {}",
                                 run_->clocks[step.clock].name, size / ms,
                                 words_for(time_of(step.after))));
  }
  const std::size_t pairs = explanation_.edges.size() + explanation_.instances.size();
  if (pairs == 0) return result;
  result.push_back(
      fmt::format("{} pairs of records contradict the others, whatever clocks do: they "
                  "move no clock",
                  pairs));
  return result;
}

}  // namespace entrain::explain
