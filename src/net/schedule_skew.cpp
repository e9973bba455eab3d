// SPDX-License-Identifier: BSD-3-Clause
//
// The largest of the least skews. A pass over all precedences per interface would do; with 8,192
// interfaces that takes half a minute. But the chains of most lead over the same few leaders: if
// from interface h on, begun at a certain time, the worst chain costs E, and s gets to h by then
// at cost c, then that of s costs c + E at most, and if some other one costs as much, s need not be
// looked at.
#include <algorithm>

#include "net/schedule.hpp"

namespace entrain::net {
namespace {

/// A direct precedence: `slow` sends to whom `fast` sends in the next slot.
struct Precedence {
  InterfaceIndex slow, fast;
  Femtoseconds skew;
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

Precedences precedences(const Schedule& schedule, std::size_t interfaces,
                        const Parameters& parameters, Reading reading) {
  Precedences found;
  std::vector<const Message*> before(interfaces, nullptr);  // by destination
  for (std::size_t begin = 0, end; begin < schedule.messages.size(); begin = end) {
    const std::int64_t slot = schedule.messages[begin].slot;
    for (end = begin; end < schedule.messages.size() && schedule.messages[end].slot == slot;
         ++end) {
      const Message& message = schedule.messages[end];
      const Message* const last = before[message.destination];
      if (last == nullptr || last->slot != slot - 1 || last->source == message.source) continue;
      found.all.push_back(
          {last->source, message.source,
           skew_of_pair(parameters, schedule.hops(*last), schedule.hops(message), reading)});
    }
    if (found.all.size() > (found.ends.empty() ? 0 : found.ends.back()))
      found.ends.push_back(found.all.size());
    for (std::size_t i = begin; i < end; ++i)
      before[schedule.messages[i].destination] = &schedule.messages[i];
  }
  return found;
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
  const Precedences all = precedences(schedule, interfaces, parameters, reading);
  return SkewSearch(all, interfaces).run(progress);
}

}  // namespace entrain::net
