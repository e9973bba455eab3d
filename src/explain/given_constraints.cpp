// SPDX-License-Identifier: BSD-3-Clause
#include "explain/given_constraints.hpp"

#include <algorithm>
#include <limits>

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

}  // namespace

GivenConstraints::GivenConstraints(std::size_t clocks, const Edges& edges, std::int64_t rate_ppb,
                                   std::span<const std::int64_t> offsets)
    : limits_(clocks + 1, {rate_ppb, {}}),
      offsets_(offsets.begin(), offsets.end()),
      base_(earliest(edges)) {
  if (!offsets.empty()) offsets_.push_back(0);
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
}

difference::Event GivenConstraints::event(std::uint32_t clock, std::uint64_t time) {
  const auto stamp = static_cast<std::int64_t>(time - base_);
  fit_ = fit_ && stamp < std::int64_t{1} << 60;
  return {clock, stamp};
}

difference::Constraints GivenConstraints::view() const {
  return {.clocks = limits_,
          .reference = static_cast<std::uint32_t>(limits_.size() - 1),
          .edges = edges_,
          .instances = instances_,
          .offsets = offsets_};
}

tables::EdgeList regroup(const Edges& edges, const Regrouping& by) {
  tables::EdgeList list;
  for (std::uint32_t i = 0; i < edges.cause_clock.size(); ++i) {
    if (std::ranges::binary_search(by.no_edges, i)) continue;
    const std::uint32_t cause = by.clock_of(edges.cause_clock[i], edges.cause_time[i]);
    const std::uint32_t effect = by.clock_of(edges.effect_clock[i], edges.effect_time[i]);
    if (cause == effect) continue;
    list.cause_clock.push_back(cause);
    list.cause_time.push_back(edges.cause_time[i]);
    list.effect_clock.push_back(effect);
    list.effect_time.push_back(edges.effect_time[i]);
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
      member.clock = by.clock_of(member.clock, member.time);
      list.members.push_back(member);
    }
  }
  return list;
}

}  // namespace entrain::explain
