// SPDX-License-Identifier: BSD-3-Clause
#include "formats/edge_graph.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include "base/executor.hpp"
#include "base/ids.hpp"
#include "base/try.hpp"
#include "trace/definitions.hpp"

namespace entrain::formats {
namespace {

constexpr std::uint64_t k_stamps = (std::uint64_t{1} << 62) + 1;  ///< stamps are smaller
constexpr std::int64_t k_largest_offset = std::int64_t{1} << 61;
constexpr std::size_t k_slice = std::size_t{1} << 20;

template <class T>
Result<void> check_length(std::span<const T> array, const char* name, std::size_t count) {
  if (array.size() == count) return {};
  return usage_error("{} has {} elements, but cause_clock has {}; give one for each edge", name,
                     array.size(), count);
}

Result<void> check_clock(const Clock& clock) {
  if (clock.events && clock.events->last < clock.events->first) {
    return usage_error("the last event of clock \"{}\" is before its first", clock.name);
  }
  for (std::size_t i = 0; i < clock.sessions.size(); ++i) {
    const ClockSession& session = clock.sessions[i];
    const auto bad_session = [&](std::string_view why) {
      return usage_error("session {} of clock \"{}\" {}", i, clock.name, why);
    };
    if (!std::isfinite(session.half_width) || session.half_width < 0) {
      return bad_session("has a half-width that is negative or no number");
    }
    if (session.offset < -k_largest_offset || session.offset > k_largest_offset) {
      return bad_session("has an offset beyond 2^61 ticks");
    }
    if (i > 0 && session.time < clock.sessions[i - 1].time) {
      return bad_session("is earlier than the one before it");
    }
  }
  return {};
}

Result<void> check_clocks(const Clocks& clocks) {
  if (clocks.resolution_hz == 0)
    return usage_error("the resolution of the clocks is 0 ticks per second");
  if (clocks.clocks.size() >= k_none)
    return usage_error("there are more than 4,294,967,294 clocks");
  std::set<std::string_view> names;
  for (const Clock& clock : clocks.clocks) {
    if (!names.insert(clock.name).second) {
      return usage_error("two clocks have the name \"{}\"", clock.name);
    }
    TRY(check_clock(clock));
  }
  return {};
}

Result<void> check_end(std::size_t clocks, std::uint32_t clock, std::uint64_t time,
                       const char* what, std::size_t number) {
  if (clock >= clocks) {
    return usage_error("{} {} names clock {}, but there are {} clocks", what, number, clock,
                       clocks);
  }
  if (time < k_stamps) return {};
  return usage_error("{} {} has a negative stamp, or one above 2^62", what, number);
}

class Checker {
 public:
  Checker(const Clocks& clocks, const Edges& edges)
      : clocks_(clocks.clocks.size()), edges_(edges), count_(edges.cause_clock.size()) {}

  [[nodiscard]] Result<void> lengths() const {
    TRY(check_length(edges_.cause_time, "cause_time", count_));
    TRY(check_length(edges_.effect_clock, "effect_clock", count_));
    TRY(check_length(edges_.effect_time, "effect_time", count_));
    if (!edges_.min_delay.empty()) TRY(check_length(edges_.min_delay, "min_delay", count_));
    if (!edges_.kind.empty()) TRY(check_length(edges_.kind, "kind", count_));
    return {};
  }

  [[nodiscard]] Result<void> edges(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      TRY(check_end(clocks_, edges_.cause_clock[i], edges_.cause_time[i], "edge", i));
      TRY(check_end(clocks_, edges_.effect_clock[i], edges_.effect_time[i], "edge", i));
    }
    for (std::size_t i = begin; i < std::min(end, edges_.min_delay.size()); ++i) {
      const std::int64_t delay = edges_.min_delay[i];
      if (delay >= 0 && delay <= trace::k_largest_mu) continue;
      return usage_error("edge {} has a min_delay of {}; give 0 to {} ticks", i, delay,
                         trace::k_largest_mu);
    }
    for (std::size_t i = begin; i < std::min(end, edges_.kind.size()); ++i) {
      if (static_cast<std::size_t>(edges_.kind[i]) < k_edge_kinds) continue;
      return usage_error("edge {} is of a kind that there is not", i);
    }
    return {};
  }

  [[nodiscard]] Result<void> instance(std::size_t i) const {
    const CollectiveInstance& instance = edges_.instances[i];
    const std::uint64_t all = edges_.members.size();
    const std::uint64_t count = std::uint64_t{instance.begins} + instance.ends;
    if (instance.first > all || count > all - instance.first) {
      return usage_error("instance {} has members beyond the last one", i);
    }
    if (static_cast<std::size_t>(instance.kind) >= k_edge_kinds) {
      return usage_error("instance {} is of a kind that there is not", i);
    }
    const auto members = edges_.members.subspan(instance.first, count);
    for (const InstanceMember& member : members) {
      TRY(check_end(clocks_, member.clock, member.time, "a member of instance", i));
    }
    TRY(side(i, instance.kind, members.first(instance.begins), "begins"));
    return side(i, instance.kind, members.subspan(instance.begins), "ends");
  }

 private:
  static Result<void> side(std::size_t i, EdgeKind kind, std::span<const InstanceMember> members,
                           const char* what) {
    std::vector<std::uint32_t> seen;
    for (const InstanceMember& member : members) seen.push_back(member.clock);
    std::ranges::sort(seen);
    const auto twice = std::ranges::adjacent_find(seen);
    if (twice != seen.end()) {
      return usage_error("clock {} has two {} in instance {}", *twice, what, i);
    }
    if (kind == EdgeKind::scan && !std::ranges::is_sorted(members, {}, &InstanceMember::rank)) {
      return usage_error("the {} of instance {}, a scan, are not in order of rank", what, i);
    }
    return {};
  }

  std::size_t clocks_;
  const Edges& edges_;
  std::size_t count_;
};

}  // namespace

Result<void> check_edges(const Clocks& clocks, const Edges& edges, unsigned threads) {
  TRY(check_clocks(clocks));
  const Checker checker(clocks, edges);
  TRY(checker.lengths());
  const std::size_t count = edges.cause_clock.size();
  TRY(parallel_for(threads, (count + k_slice - 1) / k_slice, [&](std::size_t i) {
    return checker.edges(i * k_slice, std::min(count, (i + 1) * k_slice));
  }));
  return parallel_for(threads, edges.instances.size(),
                      [&](std::size_t i) { return checker.instance(i); });
}

}  // namespace entrain::formats
