// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/run.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include <entrain/report.hpp>

#include "base/edge_list.hpp"
#include "formats/kineto/collective_calls.hpp"
#include "formats/kineto/rewrite.hpp"
#include "match/extremes.hpp"

namespace entrain::kineto {
namespace {

class Namer {
 public:
  Namer(const std::vector<RankFile>& files, const std::vector<RankFile>& ranks,
        const EdgeList& list, std::span<const ClockMap> stored)
      : files_(files), ranks_(ranks), list_(list), stored_(stored) {}

  EventNames run(const std::vector<Instance>& instances) {
    for (std::size_t i = 0; i < list_.cause_time.size(); ++i) {
      most_single_ = std::max(most_single_, single(i));
    }
    std::vector<std::int64_t> violations;
    for (const CollectiveInstance& one : list_.instances) {
      violations.push_back(violation_of(one));
      std::int64_t& most = most_of_kind_.at(static_cast<std::size_t>(one.kind));
      most = std::max(most, violations.back());
    }
    std::size_t next = 0;
    for (const Instance& instance : instances) {
      if (instance.operation == Operation::send_receive) {
        if (is_worst_message(instance)) add(instance);
        continue;
      }
      const auto kind = static_cast<std::size_t>(list_.instances[next].kind);
      const std::int64_t violation = violations[next++];
      if (violation > 0 && violation == most_of_kind_.at(kind)) add(instance);
    }
    add_worst_launch();
    return std::move(names_);
  }

 private:
  /// The time as stored.
  [[nodiscard]] std::int64_t shown(std::uint32_t clock, std::uint64_t time) const {
    return stored_[clock](time);
  }
  /// How much earlier than its cause the effect of an edge is, ns; positive: the edge is violated.
  [[nodiscard]] std::int64_t single(std::size_t i) const {
    return shown(list_.cause_clock[i], list_.cause_time[i]) -
           shown(list_.effect_clock[i], list_.effect_time[i]);
  }
  /// The largest violation of the edges of an instance: of all pairs of a begin and an end of
  /// another clock. 0: none is violated.
  [[nodiscard]] std::int64_t violation_of(const CollectiveInstance& one) const {
    const std::span<const InstanceMember> all = list_.members;
    match::LargestTwo latest;
    for (const InstanceMember& begin : all.subspan(one.first, one.begins)) {
      latest.add(shown(begin.clock, begin.time), begin.clock);
    }
    std::int64_t most = 0;
    for (const InstanceMember& end : all.subspan(one.first + one.begins, one.ends)) {
      const std::int64_t begin = latest.without(end.clock);
      if (begin != match::k_no_demand) most = std::max(most, begin - shown(end.clock, end.time));
    }
    return most;
  }
  [[nodiscard]] const Call& call_of(const Member& member) const {
    return ranks_[member.file].calls[member.call];
  }

  [[nodiscard]] bool is_worst_message(const Instance& message) const {
    std::int64_t sent = 0, received = 0;
    for (const Member& member : message.members) {
      const Call& call = call_of(member);
      const std::uint32_t clock = ranks_[member.file].numbers[call.clock];
      if (member.file == message.root) sent = shown(clock, call.begin);
      if (member.file != message.root) received = shown(clock, call.end);
    }
    return most_single_ > 0 && sent - received == most_single_;
  }

  void add(const Instance& instance) {
    for (const Member& member : instance.members) {
      const Call& call = call_of(member);
      if (call.label == nullptr) continue;
      const std::string name = call.step == 0
                                   ? *call.label
                                   : fmt::format("{}, ProfilerStep#{}", *call.label, call.step - 1);
      const std::uint32_t clock = ranks_[member.file].numbers[call.clock];
      names_[{clock, call.begin}] = names_[{clock, call.end}] = name;
    }
  }

  /// Edges between hosts and devices come first, and know no names.
  void add_worst_launch() {
    if (most_single_ == 0) return;
    std::size_t i = 0;
    for (const RankFile& rank : ranks_) {
      for (const FileClock& clock : rank.clocks) {
        for (std::size_t e = 0; e < clock.edges.size(); ++e, ++i) {
          if (single(i) != most_single_) continue;
          look_up(rank.rank, {{{list_.cause_clock[i], list_.cause_time[i]},
                               {list_.effect_clock[i], list_.effect_time[i]}}});
          return;
        }
      }
    }
  }

  /// Names the shortest events that begin or end at these times of clocks, as others are around
  /// them.
  void look_up(std::uint32_t rank,
               const std::array<std::pair<std::uint32_t, std::uint64_t>, 2>& places) {
    std::array<std::int64_t, 2> shortest{INT64_MAX, INT64_MAX};
    for (const RankFile& file : files_) {
      if (file.rank != rank) continue;
      const auto see = [&](const EventText& event, std::uint32_t own, std::uint64_t begin,
                           std::int64_t duration) -> Result<void> {
        if (!event.has_length()) return {};
        for (std::size_t p = 0; p < places.size(); ++p) {
          const auto& [clock, time] = places[p];
          const bool is_there =
              begin == time || begin + static_cast<std::uint64_t>(duration) == time;
          if (file.numbers[own] != clock || !is_there || duration >= shortest[p]) continue;
          shortest[p] = duration;
          names_[{clock, time}] = label_of(event.name, member(event.arguments, "stream"));
        }
        return {};
      };
      static_cast<void>(for_each_time(file, see));  // a file that has changed tells no name
    }
  }

  const std::vector<RankFile>& files_;
  const std::vector<RankFile>& ranks_;
  const EdgeList& list_;
  std::span<const ClockMap> stored_;
  std::int64_t most_single_ = 0;
  std::array<std::int64_t, k_edge_kinds> most_of_kind_{};
  EventNames names_;
};

}  // namespace

EventNames names_of_worst_edges(const std::vector<RankFile>& files,
                                const std::vector<RankFile>& ranks,
                                const std::vector<Instance>& instances, const EdgeList& list,
                                std::span<const ClockMap> stored) {
  return Namer(files, ranks, list, stored).run(instances);
}

}  // namespace entrain::kineto
