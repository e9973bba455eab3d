// SPDX-License-Identifier: BSD-3-Clause
#include "explain/given_constraints.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>

namespace entrain::explain {

namespace {

std::uint64_t earliest(const Edges& edges) {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  for (const auto times : {edges.cause_time, edges.effect_time}) {
    for (const std::uint64_t time : times) first = std::min(first, time);
  }
  for (const InstanceMember& member : edges.members) first = std::min(first, member.time);
  return first;
}

bool tells_ends(const CollectiveInstance& one) { return one.ends_coincide && one.ends > 1; }

/// How much later than others a member may end a call, ticks; 0: not known. By the changes of the
/// distances from the middle of the call, from one call of a clock to the next: offsets of clocks
/// and their drift do not matter, nor do few steps.
std::int64_t tolerance_of_ends(const Edges& edges) {
  constexpr std::int64_t k_changes = 16;
  std::map<std::uint32_t, std::int64_t> last;
  std::vector<std::int64_t> changes, times;
  for (const CollectiveInstance& one : edges.instances) {
    if (!tells_ends(one)) continue;
    const auto ends = edges.members.subspan(one.first + one.begins, one.ends);
    times.clear();
    for (const InstanceMember& end : ends) times.push_back(static_cast<std::int64_t>(end.time));
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
    std::nth_element(times.begin(), middle, times.end());
    for (const InstanceMember& end : ends) {
      const std::int64_t distance = static_cast<std::int64_t>(end.time) - *middle;
      const auto [at, is_new] = last.try_emplace(end.clock, distance);
      if (!is_new) changes.push_back(std::abs(std::exchange(at->second, distance) - distance));
    }
  }
  if (changes.empty()) return 0;
  const auto upper = changes.begin() + static_cast<std::ptrdiff_t>(changes.size() / 4 * 3);
  std::nth_element(changes.begin(), upper, changes.end());
  return std::min(*upper, difference::k_longest / k_changes) * k_changes;
}

}  // namespace

GivenConstraints::GivenConstraints(std::size_t clocks, const Edges& edges, std::int64_t rate_ppb,
                                   std::span<const std::int64_t> offsets)
    : limits_(clocks + 1, {.rate = difference::RateRange::within(rate_ppb)}),
      offsets_(offsets.begin(), offsets.end()),
      base_(earliest(edges)) {
  if (!offsets.empty()) offsets_.push_back(0);
  edges_.reserve(edges.cause_clock.size());
  for (std::size_t i = 0; i < edges.cause_clock.size(); ++i) {
    edges_.push_back({event(edges.cause_clock[i], edges.cause_time[i]),
                      event(edges.effect_clock[i], edges.effect_time[i]),
                      edges.min_delay.empty() ? 0 : edges.min_delay[i]});
  }
  for (const InstanceMember& member : edges.members) {
    members_.push_back(event(member.clock, member.time));
  }
  for (const CollectiveInstance& one : edges.instances) {
    const auto own = std::span(members_).subspan(one.first, std::size_t{one.begins} + one.ends);
    const bool is_known = one.kind != EdgeKind::scan;
    instances_.push_back({own.first(is_known ? one.begins : 0), own.subspan(one.begins), 0});
  }
  add_coinciding_ends(edges);
}

void GivenConstraints::add_coinciding_ends(const Edges& edges) {
  const std::int64_t tolerance = tolerance_of_ends(edges);
  if (tolerance == 0) return;
  for (std::size_t i = 0; i < edges.instances.size(); ++i) {
    const auto ends = instances_[i].ends;
    if (tells_ends(edges.instances[i])) instances_.push_back({ends, ends, -tolerance});
  }
}

difference::Event GivenConstraints::event(std::uint32_t clock, std::uint64_t time) {
  const auto stamp = static_cast<std::int64_t>(time - base_);
  fit_ = fit_ && stamp < difference::k_longest;
  return {clock, stamp};
}

difference::Constraints GivenConstraints::view() const {
  return {.clocks = limits_,
          .reference = static_cast<std::uint32_t>(limits_.size() - 1),
          .edges = edges_,
          .instances = instances_,
          .offsets = offsets_};
}

EdgeList regroup(const Edges& edges, const Regrouping& by) {
  EdgeList list;
  for (std::uint32_t i = 0; i < edges.cause_clock.size(); ++i) {
    if (std::ranges::binary_search(by.no_edges, i)) continue;
    const EdgeList::End cause = by.end_of(edges.cause_clock[i], edges.cause_time[i]);
    const EdgeList::End effect = by.end_of(edges.effect_clock[i], edges.effect_time[i]);
    if (cause.clock == effect.clock) continue;
    list.add(cause, effect);
    if (!edges.min_delay.empty()) list.min_delay.push_back(edges.min_delay[i]);
    if (!edges.kind.empty()) list.kind.push_back(edges.kind[i]);
  }
  for (std::uint32_t i = 0; i < edges.instances.size(); ++i) {
    if (std::ranges::binary_search(by.no_instances, i)) continue;
    CollectiveInstance one = edges.instances[i];
    const auto own = edges.members.subspan(one.first, std::size_t{one.begins} + one.ends);
    one.first = list.members.size();
    list.instances.push_back(one);
    for (InstanceMember member : own) {
      const EdgeList::End end = by.end_of(member.clock, member.time);
      member.clock = end.clock, member.time = end.time;
      list.members.push_back(member);
    }
  }
  return list;
}

}  // namespace entrain::explain
