// SPDX-License-Identifier: BSD-3-Clause
//
// The largest of the smallest skew bounds.
//
// A pass over all precedences per interface is enough, but takes half a minute for 8,192
// interfaces. Most chains lead over the same few leaders, the hubs. Suppose that the worst chain
// from hub h on, begun at a certain time, costs E, and that s reaches h by then at cost c. Then the
// worst chain from s costs at most c + E. If another interface already costs as much, the search
// from s can be left out.
#include "net/plan/schedule_skew.hpp"

#include <algorithm>
#include <functional>

#include "base/cancel.hpp"

namespace entrain::net {
namespace {

/// A direct precedence: `slow` sends to a destination, `fast` sends to it in the next slot.
struct Precedence {
  InterfaceIndex slow, fast;
  Femtoseconds skew;    ///< skew bound of the pair
  Femtoseconds lag{0};  ///< lag of `fast`, if `slow` holds it
};

/// All precedences, slot by slot. A chain takes at most one precedence of each slot.
struct Precedences {
  std::vector<Precedence> all;
  std::vector<std::size_t> ends;  ///< end of each slot with precedences

  [[nodiscard]] std::size_t groups() const { return ends.size(); }
  [[nodiscard]] std::span<const Precedence> group(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    return {all.data() + begin, ends[i] - begin};
  }
};

/// The links before the router from which on both routes are the same.
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

/// Computes the skew and lag of a precedence.
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

/// The largest lag that a chain of precedences adds up to, from its first interface to its last.
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
      if (Cancel(progress).asked()) return largest;
      if (progress != nullptr) progress->advance(1);
      if (at_most_[source] <= largest) continue;
      const Femtoseconds worst = search_from(source, 0);
      if (worst == k_never) return worst;
      largest = std::max(largest, worst);
      // Hubs do not pay where chains have few interfaces in common.
      if (hub_searches_ > 64 + source / 4) continue;
      find_hub(worst);
    }
    return largest;
  }

 private:
  /// A chain that reaches `at` at a smaller skew than those before.
  struct Step {
    InterfaceIndex at;
    std::size_t group;  ///< group of its last precedence
    Femtoseconds skew;
    std::size_t before;  ///< the step to the previous interface
  };
  static constexpr std::size_t k_begin = SIZE_MAX;

  /// Finds the smallest skews of chains from `source` that begin with group `first` or later.
  /// Returns the largest of them.
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

  /// After a search: finds an interface on the worst chain from which the rest of that chain is
  /// the worst, too. Searches whose chains lead over this hub can then be left out.
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

  /// Lowers at_most_ by the chains that lead to `hub` before group `end`. `rest` is the largest
  /// skew from `hub` on, begun with group `end`.
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
  std::vector<std::size_t> newest_;  ///< the step that gave best_
  std::vector<Step> steps_;
  std::vector<Femtoseconds> at_most_;  ///< limit for the worst chain from each interface
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
                              const Parameters& parameters, const BoundOptions& options,
                              Progress* progress) {
  const std::size_t interfaces = topology.interfaces().size();
  const DelayRange delays = link_delays(topology, parameters);
  Parameters shortest = parameters;
  shortest.ld = delays.least;
  if (delays.are_alike())
    return skew_of_schedule(schedule, interfaces, shortest, options.reading, progress);
  const auto model = [&](const Message& slow, const Message& fast) {
    const PairLinks links =
        links_until_they_meet(schedule.route(slow), schedule.route(fast), topology, parameters);
    const std::int64_t p1 = schedule.hops(slow), p2 = schedule.hops(fast);
    return Precedence{slow.source, fast.source,
                      std::max(lead_of_pair(parameters, p1, p2, links, options),
                               skew_of_pair(shortest, p1, p2, options.reading)),
                      lag_of_held(parameters, links, options.sending)};
  };
  const Precedences all = precedences(schedule, interfaces, model);
  const Femtoseconds lead = SkewSearch(all, interfaces).run(progress);
  return lead == k_never ? k_never : lead + largest_lag(all, interfaces);
}

}  // namespace entrain::net
