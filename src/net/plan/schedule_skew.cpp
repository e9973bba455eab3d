// SPDX-License-Identifier: BSD-3-Clause
//
// The largest of the least skews. A pass over all precedences per interface would do; with 8,192
// interfaces that takes half a minute. But the chains of most lead over the same few leaders: if
// from interface h on, begun at a certain time, the worst chain costs E, and s gets to h by then
// at cost c, then that of s costs c + E at most, and if some other one costs as much, s need not be
// looked at.
#include "net/plan/schedule_skew.hpp"

#include <algorithm>
#include <functional>

namespace entrain::net {
namespace {

/// A direct precedence: `slow` sends to whom `fast` sends in the next slot.
struct Precedence {
  InterfaceIndex slow, fast;
  Femtoseconds skew;    ///< after it
  Femtoseconds lag{0};  ///< of `fast`, if `slow` holds it
};

/// Precedences of one slot after the other; those of one slot do not lead on in it.
struct Precedences {
  std::vector<Precedence> all;
  std::vector<std::size_t> ends;  ///< of each slot that has any

  [[nodiscard]] std::size_t groups() const { return ends.size(); }
  [[nodiscard]] std::span<const Precedence> group(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    return {all.data() + begin, ends[i] - begin};
  }
};

/// Links before the router from which both routes go on alike.
PairLinks links_until_they_meet(std::span<const NodeIndex> slow, std::span<const NodeIndex> fast,
                                const Topology& topology, const Parameters& parameters) {
  const auto apart = std::mismatch(slow.rbegin(), slow.rend(), fast.rbegin(), fast.rend());
  const auto common = static_cast<std::size_t>(apart.first - slow.rbegin());
  const auto delays = [&](std::span<const NodeIndex> route) {
    std::vector<Femtoseconds> found;
    for (std::size_t i = 1; i + common <= route.size(); ++i) {
      const ChannelIndex channel = topology.channel(route[i - 1], route[i]);
      found.push_back(topology.links()[channel / 2].delay.value_or(parameters.ld));
    }
    return found;
  };
  return {delays(slow), delays(fast)};
}

/// What a precedence of `fast` by `slow` does.
using PairModel = std::function<Precedence(const Message& slow, const Message& fast)>;

Precedences precedences(const Schedule& schedule, std::size_t interfaces, const PairModel& model) {
  Precedences found;
  std::vector<const Message*> before(interfaces, nullptr);  // by destination
  for (std::size_t begin = 0, end; begin < schedule.messages.size(); begin = end) {
    const std::int64_t slot = schedule.messages[begin].slot;
    for (end = begin; end < schedule.messages.size() && schedule.messages[end].slot == slot;
         ++end) {
      const Message& message = schedule.messages[end];
      const Message* const last = before[message.destination];
      if (last == nullptr || last->slot != slot - 1 || last->source == message.source) continue;
      found.all.push_back(model(*last, message));
    }
    if (found.all.size() > (found.ends.empty() ? 0 : found.ends.back()))
      found.ends.push_back(found.all.size());
    for (std::size_t i = begin; i < end; ++i)
      before[schedule.messages[i].destination] = &schedule.messages[i];
  }
  return found;
}

/// How far an interface that a chain of precedences holds can end behind the first of the chain.
Femtoseconds largest_lag(const Precedences& precedences, std::size_t interfaces) {
  std::vector<Femtoseconds> before(interfaces, Femtoseconds(0)), after = before;
  for (std::size_t g = 0; g < precedences.groups(); ++g) {
    for (const Precedence& one : precedences.group(g))
      after[one.fast] =
          std::max(after[one.fast], std::min(before[one.slow] + one.lag, k_longest_lag));
    for (const Precedence& one : precedences.group(g)) before[one.fast] = after[one.fast];
  }
  return *std::max_element(after.begin(), after.end());
}

constexpr Femtoseconds k_never = Femtoseconds::max();

class SkewSearch {
 public:
  SkewSearch(const Precedences& precedences, std::size_t interfaces)
      : precedences_(precedences),
        best_(interfaces),
        newest_(interfaces),
        at_most_(interfaces, k_never) {}

  Femtoseconds run(Progress* progress) {
    Femtoseconds largest(0);
    for (InterfaceIndex source = 0; source < best_.size(); ++source) {
      if (progress != nullptr) {
        if (progress->cancelled()) return largest;
        progress->advance(1);
      }
      if (at_most_[source] <= largest) continue;
      const Femtoseconds worst = search_from(source, 0);
      if (worst == k_never) return worst;
      largest = std::max(largest, worst);
      // A schedule in which the chains have nobody in common is searched without this.
      if (hub_searches_ > 64 + source / 4) continue;
      find_hub(worst);
    }
    return largest;
  }

 private:
  /// A chain has got shorter, or is the first to `at`.
  struct Step {
    InterfaceIndex at;
    std::size_t group;  ///< of its last precedence
    Femtoseconds skew;
    std::size_t before;  ///< the step to the interface before
  };
  static constexpr std::size_t k_begin = SIZE_MAX;

  /// Least skews of chains from `source` that begin with group `first`: the largest of them.
  Femtoseconds search_from(InterfaceIndex source, std::size_t first) {
    std::fill(best_.begin(), best_.end(), k_never);
    best_[source] = Femtoseconds(0);
    newest_[source] = k_begin;
    steps_.clear();
    for (std::size_t g = first; g < precedences_.groups(); ++g) {
      const std::size_t begin = steps_.size();
      for (const Precedence& one : precedences_.group(g)) {
        if (best_[one.slow] == k_never) continue;
        const Femtoseconds skew = best_[one.slow] + one.skew;
        if (skew < best_[one.fast]) steps_.push_back({one.fast, g, skew, newest_[one.slow]});
      }
      for (std::size_t i = begin; i < steps_.size(); ++i) {
        if (steps_[i].skew >= best_[steps_[i].at]) continue;
        best_[steps_[i].at] = steps_[i].skew;
        newest_[steps_[i].at] = i;
      }
    }
    return *std::max_element(best_.begin(), best_.end());
  }

  /// After a search: the latest interface on the worst chain from which that chain is the worst,
  /// too. What leads over it need not be searched from.
  void find_hub(Femtoseconds worst) {
    std::vector<Step> chain;
    const auto farthest = std::max_element(best_.begin(), best_.end()) - best_.begin();
    for (std::size_t i = newest_[static_cast<std::size_t>(farthest)]; i != k_begin;
         i = steps_[i].before)
      chain.push_back(steps_[i]);
    for (std::size_t i = 1; i < chain.size(); ++i) {
      ++hub_searches_;
      const Femtoseconds rest = search_from(chain[i].at, chain[i].group + 1);
      if (rest == k_never || chain[i].skew + rest > worst) continue;
      note_hub(chain[i].at, chain[i].group + 1, rest);
      return;
    }
  }

  /// `rest`: the largest skew from `hub` on, if begun with group `end`.
  void note_hub(InterfaceIndex hub, std::size_t end, Femtoseconds rest) {
    std::fill(best_.begin(), best_.end(), k_never);
    best_[hub] = rest;
    for (std::size_t g = end; g-- > 0;) {
      steps_.clear();
      for (const Precedence& one : precedences_.group(g)) {
        if (best_[one.fast] == k_never) continue;
        const Femtoseconds skew = best_[one.fast] + one.skew;
        if (skew < best_[one.slow]) steps_.push_back({one.slow, g, skew, k_begin});
      }
      for (const Step& step : steps_) best_[step.at] = std::min(best_[step.at], step.skew);
    }
    for (InterfaceIndex i = 0; i < at_most_.size(); ++i)
      at_most_[i] = std::min(at_most_[i], best_[i]);
  }

  const Precedences& precedences_;
  std::vector<Femtoseconds> best_;
  std::vector<std::size_t> newest_;  ///< step that best_ comes from
  std::vector<Step> steps_;
  std::vector<Femtoseconds> at_most_;  ///< of the worst chain from there
  std::size_t hub_searches_ = 0;
};

}  // namespace

Femtoseconds skew_of_schedule(const Schedule& schedule, std::size_t interfaces,
                              const Parameters& parameters, Reading reading, Progress* progress) {
  const auto model = [&](const Message& slow, const Message& fast) {
    return Precedence{slow.source, fast.source,
                      skew_of_pair(parameters, schedule.hops(slow), schedule.hops(fast), reading)};
  };
  const Precedences all = precedences(schedule, interfaces, model);
  return SkewSearch(all, interfaces).run(progress);
}

Femtoseconds skew_of_schedule(const Schedule& schedule, const Topology& topology,
                              const Parameters& parameters, Reading reading, const Sending& sending,
                              Progress* progress) {
  const std::size_t interfaces = topology.interfaces().size();
  const DelayRange delays = link_delays(topology, parameters);
  Parameters shortest = parameters;
  shortest.ld = delays.least;
  if (delays.are_alike())
    return skew_of_schedule(schedule, interfaces, shortest, reading, progress);
  const auto model = [&](const Message& slow, const Message& fast) {
    const PairLinks links =
        links_until_they_meet(schedule.route(slow), schedule.route(fast), topology, parameters);
    const std::int64_t p1 = schedule.hops(slow), p2 = schedule.hops(fast);
    return Precedence{slow.source, fast.source,
                      std::max(lead_of_pair(parameters, p1, p2, reading, links, sending),
                               skew_of_pair(shortest, p1, p2, reading)),
                      lag_of_held(parameters, links, sending)};
  };
  const Precedences all = precedences(schedule, interfaces, model);
  const Femtoseconds lead = SkewSearch(all, interfaces).run(progress);
  return lead == k_never ? k_never : lead + largest_lag(all, interfaces);
}

}  // namespace entrain::net
