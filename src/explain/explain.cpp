// SPDX-License-Identifier: BSD-3-Clause
#include "explain/explain.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace entrain::explain {

namespace {

using difference::Constraints;
using difference::Event;
using difference::System;

constexpr std::size_t k_cycles_at_once = 32, k_most_cycles = 1024;

/// A negative cycle.
struct Cycle {
  std::vector<Step> ranges;            ///< stamps between which it goes along clocks
  std::vector<std::uint32_t> numbers;  ///< constraints that it has, increasing
};

/// Something that breaks cycles.
struct Candidate {
  double price = 0;                   ///< bits, above 0
  std::vector<std::uint32_t> cycles;  ///< those that it breaks, increasing
};

constexpr std::size_t k_most_branches = 20'000;
constexpr double k_rounding = 1e-9;  ///< of sums of prices, bits

/// The cheapest candidates that together break all cycles. Branch and bound: the first cycle that
/// is left is broken in every way, first by what breaks most for its price. Exact if 20,000 steps
/// suffice.
class Cover {
 public:
  Cover(std::span<const Candidate> candidates, std::size_t cycles)
      : candidates_(candidates), breakers_(cycles), times_(cycles, 0) {
    const auto gain = [&](std::uint32_t c) {
      return static_cast<double>(candidates[c].cycles.size()) / candidates[c].price;
    };
    for (std::uint32_t c = 0; c < candidates.size(); ++c) {
      for (const std::uint32_t cycle : candidates[c].cycles) breakers_[cycle].push_back(c);
    }
    for (std::vector<std::uint32_t>& own : breakers_) {
      std::stable_sort(own.begin(), own.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return gain(a) > gain(b); });
    }
  }

  /// Positions of the candidates, increasing.
  std::vector<std::uint32_t> run() {
    branch(0);
    std::sort(best_.begin(), best_.end());
    return std::move(best_);
  }

 private:
  void branch(std::size_t from) {
    if (price_ >= least_ - k_rounding || ++branches_ > k_most_branches + times_.size()) return;
    while (from < times_.size() && times_[from] > 0) ++from;
    if (from == times_.size()) {
      best_ = chosen_;
      least_ = price_;
      return;
    }
    for (const std::uint32_t c : breakers_[from]) {
      chosen_.push_back(c);
      price_ += candidates_[c].price;
      for (const std::uint32_t cycle : candidates_[c].cycles) ++times_[cycle];
      branch(from + 1);
      for (const std::uint32_t cycle : candidates_[c].cycles) --times_[cycle];
      price_ -= candidates_[c].price;
      chosen_.pop_back();
    }
  }

  std::span<const Candidate> candidates_;
  std::vector<std::vector<std::uint32_t>> breakers_;  ///< candidates of each cycle
  std::vector<std::uint32_t> times_;                  ///< how often each cycle is broken
  std::vector<std::uint32_t> chosen_, best_;
  double price_ = 0, least_ = std::numeric_limits<double>::max();  ///< of `chosen_`, of `best_`
  std::size_t branches_ = 0;
};

/// What can be relaxed.
struct Relaxation {
  Step step;                 ///< of a clock, anywhere between these stamps
  std::uint32_t number = 0;  ///< constraint, if it is no step
  bool is_step = false;
};

class Explainer {
 public:
  Explainer(const Constraints& constraints, difference::Effort& effort)
      : constraints_(constraints), effort_(effort), whole_(constraints) {}

  std::optional<Explanation> run() {
    Explanation found;
    while (find_more(found)) {
      if (is_over()) return std::nullopt;
      found = cheapest();
      if (found.bits > Prices::rate && !rates_were_tried_) {
        if (auto raised = raise_rates()) return raised;
      }
    }
    return is_over() ? std::nullopt : std::optional(found);
  }

 private:
  [[nodiscard]] bool is_over() const {
    return effort_.spent > effort_.most || cycles_.size() > k_most_cycles;
  }

  /// Adds cycles that an explanation leaves, which have no constraint in common. False if none is.
  bool find_more(const Explanation& found) {
    System system = relaxed(found);
    for (std::size_t n = 0; n < k_cycles_at_once; ++n) {
      const auto solved = greatest_below(system, difference::Values(system.nodes(), 0), effort_);
      if (solved || !solved.error().certificate) return n > 0;
      Cycle cycle = cycle_of(system, *solved.error().certificate);
      system.leave_out(cycle.numbers);
      for (std::uint32_t& number : cycle.numbers) number = number_of_[number];
      cycles_.push_back(std::move(cycle));
    }
    return true;
  }

  [[nodiscard]] Cycle cycle_of(const System& system,
                               const difference::Certificate& certificate) const {
    using Kind = difference::Certificate::Kind;
    Cycle cycle;
    for (const difference::Certificate::Step& step : certificate.steps) {
      if (step.kind != Kind::rate) {
        cycle.numbers.push_back(step.position + (step.kind == Kind::instance ? edges_left_ : 0));
        continue;
      }
      const auto [first, last] = std::minmax({system.stamp(step.from), system.stamp(step.to)});
      add_range({clock_of_[step.position], first, last}, cycle);
    }
    std::ranges::sort(cycle.numbers);
    cycle.numbers.erase(std::unique(cycle.numbers.begin(), cycle.numbers.end()),
                        cycle.numbers.end());
    return cycle;
  }
  /// Extends the range that a way along a clock touches, or adds one.
  static void add_range(const Step& way, Cycle& cycle) {
    for (Step& range : cycle.ranges) {
      if (range.clock != way.clock || way.before > range.after || way.after < range.before)
        continue;
      range.before = std::min(range.before, way.before);
      range.after = std::max(range.after, way.after);
      return;
    }
    cycle.ranges.push_back(way);
  }

  /// The system without what an explanation relaxes. A clock that was set is one clock before and
  /// another one after the step.
  System relaxed(const Explanation& found) {
    std::vector<std::vector<std::int64_t>> begins(constraints_.clocks.size());
    for (const Step& step : found.steps) begins[step.clock].push_back(step.after);
    std::vector<difference::ClockLimits> limits;
    std::vector<std::uint32_t> first;
    clock_of_.clear();
    for (std::uint32_t c = 0; c < begins.size(); ++c) {
      first.push_back(static_cast<std::uint32_t>(limits.size()));
      limits.insert(limits.end(), begins[c].size() + 1, constraints_.clocks[c]);
      clock_of_.insert(clock_of_.end(), begins[c].size() + 1, c);
    }
    const auto part = [&](Event event) {
      const auto& own = begins[event.clock];
      const auto at = std::upper_bound(own.begin(), own.end(), event.stamp) - own.begin();
      return Event{first[event.clock] + static_cast<std::uint32_t>(at), event.stamp};
    };
    number_of_.clear();
    std::vector<difference::Edge> edges;
    for (std::uint32_t e = 0; e < constraints_.edges.size(); ++e) {
      if (std::binary_search(found.edges.begin(), found.edges.end(), e)) continue;
      const difference::Edge& edge = constraints_.edges[e];
      edges.push_back({part(edge.cause), part(edge.effect), edge.delay});
      number_of_.push_back(e);
    }
    edges_left_ = static_cast<std::uint32_t>(edges.size());
    std::vector<std::vector<Event>> members;
    std::vector<difference::Instance> instances;
    const auto parts_of = [&](std::span<const Event> events) {
      members.emplace_back();
      for (const Event& event : events) members.back().push_back(part(event));
      return std::span<const Event>(members.back());  // stays where it is if the vector grows
    };
    for (std::uint32_t i = 0; i < constraints_.instances.size(); ++i) {
      if (std::binary_search(found.instances.begin(), found.instances.end(), i)) continue;
      const difference::Instance& one = constraints_.instances[i];
      instances.push_back({parts_of(one.begins), parts_of(one.ends), one.delay});
      number_of_.push_back(static_cast<std::uint32_t>(constraints_.edges.size()) + i);
    }
    return System({.clocks = limits,
                   .reference = first[constraints_.reference],
                   .edges = edges,
                   .instances = instances});
  }

  /// The cheapest relaxations that break all cycles so far.
  Explanation cheapest() {
    find_candidates();
    Explanation found;
    for (const std::uint32_t c : Cover(candidates_, cycles_.size()).run()) {
      const Relaxation& relaxation = relaxations_[c];
      found.bits += candidates_[c].price;
      if (relaxation.is_step) {
        found.steps.push_back(longest_gap(relaxation.step));
      } else if (relaxation.number < constraints_.edges.size()) {
        found.edges.push_back(relaxation.number);
      } else {
        found.instances.push_back(relaxation.number -
                                  static_cast<std::uint32_t>(constraints_.edges.size()));
      }
    }
    std::sort(found.steps.begin(), found.steps.end());
    std::sort(found.edges.begin(), found.edges.end());
    std::sort(found.instances.begin(), found.instances.end());
    return found;
  }

  /// Finds all that breaks cycles.
  void find_candidates() {
    candidates_.clear();
    relaxations_.clear();
    std::map<std::uint32_t, std::vector<std::uint32_t>> of_number;
    std::map<std::uint32_t, std::vector<Part>> of_clock;
    for (std::uint32_t c = 0; c < cycles_.size(); ++c) {
      for (const std::uint32_t number : cycles_[c].numbers) of_number[number].push_back(c);
      for (const Step& range : cycles_[c].ranges) {
        of_clock[range.clock].push_back({range.before, range.after, c});
      }
    }
    for (auto& [clock, parts] : of_clock) add_steps(clock, parts);
    for (auto& [number, cycles] : of_number) {
      candidates_.push_back({price_of(number), std::move(cycles)});
      relaxations_.push_back({.step = {}, .number = number});
    }
  }
  [[nodiscard]] double price_of(std::uint32_t number) const {
    const std::size_t edges = constraints_.edges.size();
    const bool is_weak = number >= edges && constraints_.instances[number - edges].delay < 0;
    return is_weak ? Prices::ends : Prices::pair;
  }

  /// A part of a clock's run that a cycle goes along.
  struct Part {
    std::int64_t first = 0, last = 0;
    std::uint32_t cycle = 0;
  };
  /// Of all times at which a clock may have been set, those between a begin of a part and the next
  /// end of one break most cycles.
  void add_steps(std::uint32_t clock, std::vector<Part>& parts) {
    std::vector<std::int64_t> firsts, lasts;
    for (const Part& part : parts) firsts.push_back(part.first), lasts.push_back(part.last);
    std::sort(firsts.begin(), firsts.end());
    std::sort(lasts.begin(), lasts.end());
    for (std::size_t f = 0, l = 0; f < firsts.size(); ++f) {
      while (lasts[l] <= firsts[f]) ++l;
      if (f + 1 < firsts.size() && firsts[f + 1] < lasts[l]) continue;
      const Step step{clock, firsts[f], lasts[l]};
      Candidate candidate{Prices::step, {}};
      for (const Part& part : parts) {
        if (part.first <= step.before && part.last >= step.after) {
          candidate.cycles.push_back(part.cycle);
        }
      }
      auto& cycles = candidate.cycles;
      cycles.erase(std::unique(cycles.begin(), cycles.end()), cycles.end());
      candidates_.push_back(std::move(candidate));
      relaxations_.push_back({.step = step, .number = 0, .is_step = true});
    }
  }

  /// The longest gap between neighbouring stamps within a part of a clock's run.
  [[nodiscard]] Step longest_gap(const Step& within) const {
    difference::Node node = *whole_.find({within.clock, within.before});
    Step longest{within.clock, within.before, within.before};
    for (; whole_.stamp(node) < within.after; ++node) {
      const std::int64_t before = whole_.stamp(node), after = whole_.stamp(node + 1);
      if (after - before > longest.after - longest.before) {
        longest = {within.clock, before, after};
      }
    }
    return longest;
  }

  /// The least limit that makes all feasible, if clocks may be so fast.
  std::optional<Explanation> raise_rates() {
    rates_were_tried_ = true;
    const auto feasible = [&] {
      return greatest_below(whole_, difference::Values(whole_.nodes(), 0), effort_).has_value();
    };
    for (std::uint32_t c = 0; c < whole_.clocks(); ++c) whole_.set_rate(c, Prices::fastest_ppb);
    if (!feasible()) return std::nullopt;
    const auto least = set_least_rate(whole_, effort_);
    if (!least) return std::nullopt;
    Explanation found;
    found.rate_ppb = *least;
    found.bits = Prices::rate;
    return found;
  }

  const Constraints& constraints_;
  difference::Effort& effort_;
  System whole_;  ///< nothing relaxed but rates
  std::vector<Cycle> cycles_;
  std::vector<std::uint32_t> clock_of_, number_of_;  ///< of parts, of constraints of relaxed()
  std::vector<Candidate> candidates_;
  std::vector<Relaxation> relaxations_;  ///< one per candidate
  std::uint32_t edges_left_ = 0;         ///< in relaxed()
  bool rates_were_tried_ = false;
};

}  // namespace

std::optional<Explanation> explain(const Constraints& constraints, difference::Effort& effort) {
  return Explainer(constraints, effort).run();
}

}  // namespace entrain::explain
