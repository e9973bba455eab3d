// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/run.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "match/extremes.hpp"

namespace entrain::kineto {
namespace {

/// Clock and time of an end of an edge.
using Stamp = std::pair<std::uint32_t, std::uint64_t>;
/// See Recording::event_names.
using EventNames = std::map<Stamp, std::string>;

/// Names the shortest events of a rank that begin or end at these places: others are around them.
void name_events(std::span<const RankFile> files, std::uint32_t rank,
                 const std::array<Stamp, 2>& places, EventNames& names) {
  std::array<std::int64_t, 2> shortest{INT64_MAX, INT64_MAX};
  for (const RankFile& file : files) {
    if (file.rank != rank) continue;
    const auto see = [&](const TimedEvent& event) -> Result<void> {
      if (!event.text.has_length()) return {};
      for (std::size_t p = 0; p < places.size(); ++p) {
        const auto& [clock, time] = places[p];
        const bool is_there = event.begin == time || event.end() == time;
        if (file.numbers[event.clock] != clock || !is_there || event.length >= shortest[p]) {
          continue;
        }
        shortest[p] = event.length;
        names[places[p]] = label_of(event.text.name, member(event.text.arguments, "stream"));
      }
      return {};
    };
    static_cast<void>(for_each_time(file, see));  // a file that has changed tells no name
  }
}

/// How much earlier than their causes effects are by the times as stored, ns; above 0: a violation.
class Violations {
 public:
  Violations(const EdgeList& list, std::span<const ClockMap> stored)
      : list_(list), stored_(stored) {}

  [[nodiscard]] std::int64_t of_edge(std::size_t i) const {
    return shown(list_.cause_clock[i], list_.cause_time[i]) -
           shown(list_.effect_clock[i], list_.effect_time[i]);
  }
  /// The largest one of all pairs of a begin and an end of another clock; 0: none is violated.
  [[nodiscard]] std::int64_t of_instance(const CollectiveInstance& one) const {
    const auto all = std::span<const InstanceMember>(list_.members).subspan(one.first);
    match::LargestTwo latest;
    for (const InstanceMember& begin : all.first(one.begins)) {
      latest.add(shown(begin.clock, begin.time), begin.clock);
    }
    std::int64_t most = 0;
    for (const InstanceMember& end : all.subspan(one.begins, one.ends)) {
      const std::int64_t begin = latest.without(end.clock);
      if (begin != match::k_no_demand) most = std::max(most, begin - shown(end.clock, end.time));
    }
    return most;
  }

 private:
  [[nodiscard]] std::int64_t shown(std::uint32_t clock, std::uint64_t time) const {
    return stored_[clock](time);
  }

  const EdgeList& list_;
  std::span<const ClockMap> stored_;
};

/// Names both ends of the calls of an instance: kernel, stream and step.
void name_calls(const Instance& instance, std::span<const RankFile> ranks, EventNames& names) {
  for (const auto& [f, position] : instance.members) {
    const Call& call = ranks[f].calls[position];
    if (call.label == nullptr) continue;
    const std::uint32_t clock = ranks[f].numbers[call.clock];
    names[{clock, call.begin}] = names[{clock, call.end}] =
        call.step == 0 ? *call.label
                       : fmt::format("{}, ProfilerStep#{}", *call.label, call.step - 1);
  }
}

}  // namespace

void Run::name_worst_edges(std::size_t inner) {
  const std::vector<ClockMap> stored = stored_times();
  const Violations violations(list, stored);
  constexpr auto k_single = static_cast<std::size_t>(EdgeKind::p2p);  // launches and arrows, too
  std::array<std::int64_t, k_edge_kinds> most{};
  for (std::size_t i = 0; i < list.cause_time.size(); ++i) {
    most[k_single] = std::max(most[k_single], violations.of_edge(i));
  }
  std::vector<std::int64_t> of_instances;
  for (const CollectiveInstance& one : list.instances) {
    of_instances.push_back(violations.of_instance(one));
    std::int64_t& most_of_kind = most.at(static_cast<std::size_t>(one.kind));
    most_of_kind = std::max(most_of_kind, of_instances.back());
  }
  std::size_t next = 0, edge = inner;
  for (const Instance& instance : matches_.instances) {
    std::int64_t violation = 0;
    std::size_t kind = k_single;
    if (instance.operation == Operation::send_receive) {
      violation = violations.of_edge(edge++);
    } else {
      kind = static_cast<std::size_t>(list.instances[next].kind);
      violation = of_instances[next++];
    }
    if (violation > 0 && violation == most[kind]) name_calls(instance, ranks_, event_names);
  }
  if (most[k_single] == 0 || place_ != Place::here) return;
  for (edge = 0; edge < inner && violations.of_edge(edge) != most[k_single];) ++edge;
  if (edge == inner) return;
  const Stamp cause{list.cause_clock[edge], list.cause_time[edge]},
      effect{list.effect_clock[edge], list.effect_time[edge]};
  // The number of a host's clock is that of its rank, and below those of devices.
  name_events(files_, ranks_[std::min(cause, effect).first].rank, {cause, effect}, event_names);
}

}  // namespace entrain::kineto
