// SPDX-License-Identifier: BSD-3-Clause
#include "explain/explain.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

namespace entrain::explain {

namespace {

using difference::Constraints;
using difference::Event;
using difference::System;

/// Most searches for further cycles before a new explanation is tried, and most cycles.
constexpr std::size_t k_searches_at_once = 32, k_most_cycles = 8192;
constexpr std::uint32_t k_order = 0xFFFFFFFF;  ///< number of a constraint that no run has

/// Stamps between which a cycle goes along a clock.
struct Range {
  Step step;
  /// Shortest gap in which a step breaks the cycle, ticks: 0, unless the clock must lose time
  /// there, and cannot lose more than there is.
  std::int64_t least_gap = 0;
};

/// A negative cycle.
struct Cycle {
  std::vector<Range> ranges;
  std::vector<std::uint32_t> numbers;  ///< constraints that it has, increasing
};

/// Something that breaks cycles.
struct Candidate {
  double price = 0;                   ///< bits, above 0
  std::vector<std::uint32_t> cycles;  ///< those that it breaks, increasing
};

/// Cycles that branches may break, together, once an explanation is known.
constexpr std::size_t k_most_broken = std::size_t{1} << 22;
constexpr double k_rounding = 1e-9;  ///< rounding of sums of prices, bits

/// The cheapest candidates that together break all cycles. Branch and bound: the first cycle that
/// is left is broken in every way, first by what breaks most for its price. Exact as long as that
/// takes no more than k_most_broken.
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

  /// Positions of the candidates, increasing; none if nothing breaks some cycle.
  std::vector<std::uint32_t> run() {
    if (std::ranges::any_of(breakers_, [](const auto& own) { return own.empty(); })) return {};
    branch(0);
    std::sort(best_.begin(), best_.end());
    return std::move(best_);
  }

 private:
  void branch(std::size_t from) {
    if (price_ >= least_ - k_rounding || (broken_ > k_most_broken && !best_.empty())) return;
    while (from < times_.size() && times_[from] > 0) ++from;
    if (from == times_.size()) {
      best_ = chosen_;
      least_ = price_;
      return;
    }
    for (const std::uint32_t c : breakers_[from]) {
      chosen_.push_back(c);
      price_ += candidates_[c].price;
      broken_ += candidates_[c].cycles.size();
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
  double price_ = 0, least_ = std::numeric_limits<double>::max();  ///< those of `chosen_`, `best_`
  std::size_t broken_ = 0;
};

/// Relaxations of constraints.
struct Relaxation {
  Step step;
  std::uint32_t number = 0;  ///< constraint, if it is no step
  bool is_step = false;
};

class Explainer {
 public:
  Explainer(const Constraints& constraints, const Trust& trust, difference::Effort& effort)
      : constraints_(constraints),
        trust_(trust),
        effort_(effort),
        whole_(constraints),
        without_ends_(constraints),
        rates_{Rates{Prices::rate, Prices::fastest_ppb},
               Rates{trust.is_ordered ? Prices::any_rate_of_timers : Prices::any_rate,
                     Prices::any_ppb}} {
    std::vector<std::uint32_t> ends;
    for (std::uint32_t i = 0; i < constraints.instances.size(); ++i) {
      const auto number = static_cast<std::uint32_t>(constraints.edges.size()) + i;
      if (constraints.instances[i].delay < 0) ends.push_back(number);
    }
    without_ends_.leave_out(ends);
  }

  /// False: the search has ended.
  [[nodiscard]] bool is_open() const { return state_ == State::open; }
  /// No explanation costs less; after a search without success: infinite.
  [[nodiscard]] double bits() const {
    return state_ == State::failed ? std::numeric_limits<double>::infinity() : found_.bits;
  }
  /// A cycle that contradicts the limits as they are.
  [[nodiscard]] const std::vector<std::uint32_t>& certificate() const {
    return cycles_.front().numbers;
  }
  [[nodiscard]] std::optional<Explanation> found() const {
    return state_ == State::found ? std::optional(found_) : std::nullopt;
  }

  /// Finds what the cheapest explanation so far leaves to be explained, and the next one.
  void go_on() {
    const bool is_left = find_more(found_);
    state_ = is_over() ? State::failed : State::found;
    if (is_over() || !is_left) return;
    const bool is_explained = find_cheapest(found_);
    const double bits = is_explained ? found_.bits : std::numeric_limits<double>::max();
    const auto price = [&](const Rates& rates) {
      return trust_.is_limit_given && rates.ppb <= Prices::fastest_ppb ? 0 : rates.bits;
    };
    for (; tried_ < rates_.size() && bits > price(rates_[tried_]); ++tried_) {
      auto raised = raise_rates(rates_[tried_], bits);
      if (!raised) continue;
      found_ = *std::move(raised);
      return;
    }
    state_ = is_explained ? State::open : State::failed;
  }

 private:
  enum class State : std::uint8_t { open, found, failed };

  [[nodiscard]] bool is_over() const {
    return effort_.spent > effort_.most || cycles_.size() > k_most_cycles;
  }

  /// Adds cycles that an explanation leaves, which have no constraint in common. False if none is.
  bool find_more(const Explanation& found) {
    System system = relaxed(found);
    const std::size_t before = cycles_.size();
    for (std::size_t n = 0; n < searches_ && cycles_.size() <= k_most_cycles; ++n) {
      const auto solved = greatest_below(system, start(system), effort_);
      if (solved || !solved.error().certificate) break;
      add(*solved.error().certificate, system);
      for (const auto& one : solved.error().more) add(one, system);
      std::sort(left_out_.begin(), left_out_.end());
      system.leave_out(left_out_);
      left_out_.clear();
    }
    searches_ = std::min(2 * searches_, k_searches_at_once);
    return cycles_.size() > before || is_over();
  }

  /// Values from which a search begins: those of the clocks as they are known.
  [[nodiscard]] difference::Values start(const System& system) const {
    difference::Values values(system.nodes(), 0);
    if (constraints_.offsets.empty()) return values;
    const bool is_whole = system.clocks() == constraints_.clocks.size();  // no clock was set
    for (difference::Node node = 0; node < system.nodes(); ++node) {
      values[node] =
          node < system.stamped()
              ? difference::k_tick *
                    constraints_
                        .offsets[is_whole ? system.clock(node) : clock_of_[system.clock(node)]]
              : difference::k_unbounded;
    }
    return values;
  }

  void add(const difference::Certificate& certificate, const System& system) {
    using Kind = difference::Certificate::Kind;
    Cycle cycle;
    RangesOfClocks of_clock;
    for (const difference::Certificate::Step& step : certificate.steps) {
      if (step.kind != Kind::rate) {
        const std::uint32_t number =
            step.position + (step.kind == Kind::instance ? edges_left_ : 0);
        if (number_of_[number] != k_order) cycle.numbers.push_back(number);
        continue;
      }
      add_range(way_of(step, certificate, system), of_clock, cycle);
    }
    std::ranges::sort(cycle.numbers);
    cycle.numbers.erase(std::unique(cycle.numbers.begin(), cycle.numbers.end()),
                        cycle.numbers.end());
    left_out_.insert(left_out_.end(), cycle.numbers.begin(), cycle.numbers.end());
    for (std::uint32_t& number : cycle.numbers) number = number_of_[number];
    cycles_.push_back(std::move(cycle));
  }
  /// A step of a cycle along a clock.
  [[nodiscard]] Range way_of(const difference::Certificate::Step& step,
                             const difference::Certificate& certificate,
                             const System& system) const {
    const std::int64_t from = system.stamp(step.from), to = system.stamp(step.to);
    const auto [first, last] = std::minmax(from, to);
    const std::uint32_t clock = clock_of_[step.position];
    std::int64_t least_gap = 0;
    if (trust_.is_ordered && from > to) {
      const std::int64_t gain = k_billion - constraints_.clocks[clock].rate.upper_ppb;  // per tick
      least_gap = static_cast<std::int64_t>(ceil_div(-certificate.length, gain));
    }
    return {{clock, first, last}, least_gap};
  }
  /// Positions in Cycle::ranges by clock; a cycle may lead through all clocks.
  using RangesOfClocks = std::map<std::uint32_t, std::vector<std::size_t>>;
  /// Extends the range that a way along a clock touches, or adds one.
  static void add_range(const Range& way, RangesOfClocks& of_clock, Cycle& cycle) {
    std::vector<std::size_t>& own = of_clock[way.step.clock];
    for (const std::size_t position : own) {
      Range& range = cycle.ranges[position];
      if (way.step.before > range.step.after || way.step.after < range.step.before) continue;
      range.step.before = std::min(range.step.before, way.step.before);
      range.step.after = std::max(range.step.after, way.step.after);
      range.least_gap = std::min(range.least_gap, way.least_gap);
      return;
    }
    own.push_back(cycle.ranges.size());
    cycle.ranges.push_back(way);
  }

  /// The system without what an explanation relaxes. A clock that was set is one clock before and
  /// another one after the step.
  System relaxed(const Explanation& found) {
    std::vector<std::vector<std::int64_t>> begins(constraints_.clocks.size());
    for (const Step& step : found.steps) begins[step.clock].push_back(step.after);
    std::vector<difference::ClockLimits> limits;
    std::vector<std::uint32_t> first;
    std::vector<std::int64_t> offsets;
    clock_of_.clear();
    for (std::uint32_t c = 0; c < begins.size(); ++c) {
      first.push_back(static_cast<std::uint32_t>(limits.size()));
      limits.insert(limits.end(), begins[c].size() + 1, constraints_.clocks[c]);
      clock_of_.insert(clock_of_.end(), begins[c].size() + 1, c);
      if (constraints_.offsets.empty()) continue;
      offsets.insert(offsets.end(), begins[c].size() + 1, constraints_.offsets[c]);
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
    for (const Step& step : found.steps) {
      if (!trust_.is_ordered) break;
      edges.push_back({part({step.clock, step.before}), part({step.clock, step.after}), 0});
      number_of_.push_back(k_order);
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
                   .instances = instances,
                   .offsets = offsets});
  }

  /// Finds the cheapest relaxations that break all cycles so far. False: nothing breaks one.
  bool find_cheapest(Explanation& found) {
    find_candidates();
    found = {};
    const std::vector<std::uint32_t> cheapest = Cover(candidates_, cycles_.size()).run();
    if (cheapest.empty()) return false;
    std::map<Step, std::uint32_t> steps;
    const auto edges = static_cast<std::uint32_t>(constraints_.edges.size());
    for (const std::uint32_t c : cheapest) {
      const Relaxation& relaxation = relaxations_[c];
      found.bits += candidates_[c].price;
      if (relaxation.is_step) {
        steps[relaxation.step] = static_cast<std::uint32_t>(candidates_[c].cycles.size());
      } else if (relaxation.number < edges) {
        found.edges.push_back(relaxation.number);
      } else {
        found.instances.push_back(relaxation.number - edges);
      }
    }
    for (const auto& [step, cycles] : steps) {
      found.steps.push_back(step);
      found.evidence.push_back(cycles);
    }
    std::sort(found.edges.begin(), found.edges.end());
    std::sort(found.instances.begin(), found.instances.end());
    return true;
  }

  /// Finds all that breaks cycles.
  void find_candidates() {
    candidates_.clear();
    relaxations_.clear();
    std::map<std::uint32_t, std::vector<std::uint32_t>> of_number;
    std::map<std::uint32_t, std::vector<Part>> of_clock;
    for (std::uint32_t c = 0; c < cycles_.size(); ++c) {
      for (const std::uint32_t number : cycles_[c].numbers) of_number[number].push_back(c);
      for (const Range& range : cycles_[c].ranges) {
        of_clock[range.step.clock].push_back(
            {range.step.before, range.step.after, range.least_gap, c});
      }
    }
    for (auto& [clock, parts] : of_clock) add_steps(clock, parts);
    for (auto& [number, cycles] : of_number) {
      const Evidence evidence = evidence_of(number);
      if (evidence == Evidence::certain) continue;
      const double price = evidence == Evidence::weak ? Prices::weak : Prices::pair;
      candidates_.push_back({price, std::move(cycles)});
      relaxations_.push_back({.step = {}, .number = number});
    }
  }
  [[nodiscard]] Evidence evidence_of(std::uint32_t number) const {
    const std::size_t edges = constraints_.edges.size();
    if (number < edges) return trust_.edges.empty() ? Evidence::usual : trust_.edges[number];
    if (constraints_.instances[number - edges].delay < 0) return Evidence::weak;
    return trust_.instances.empty() ? Evidence::usual : trust_.instances[number - edges];
  }

  /// A part of a clock's run that a cycle goes along.
  struct Part {
    std::int64_t first = 0, last = 0, least_gap = 0;
    std::uint32_t cycle = 0;
  };
  /// Times at which a clock may have been set: those between a begin of a part and the next
  /// end of one break most cycles.
  void add_steps(std::uint32_t clock, std::vector<Part>& parts) {
    std::vector<std::int64_t> firsts, lasts;
    for (const Part& part : parts) firsts.push_back(part.first), lasts.push_back(part.last);
    std::sort(firsts.begin(), firsts.end());
    std::sort(lasts.begin(), lasts.end());
    for (std::size_t f = 0, l = 0; f < firsts.size(); ++f) {
      while (lasts[l] <= firsts[f]) ++l;
      if (f + 1 < firsts.size() && firsts[f + 1] < lasts[l]) continue;
      const Step within{clock, firsts[f], lasts[l]}, step = longest_gap(within);
      Candidate candidate{Prices::step, {}};
      for (const Part& part : parts) {
        if (part.first <= within.before && part.last >= within.after &&
            part.least_gap <= step.after - step.before) {
          candidate.cycles.push_back(part.cycle);
        }
      }
      auto& cycles = candidate.cycles;
      cycles.erase(std::unique(cycles.begin(), cycles.end()), cycles.end());
      if (!is_proof(cycles)) continue;
      candidates_.push_back(std::move(candidate));
      relaxations_.push_back({.step = step, .number = 0, .is_step = true});
    }
  }

  /// Guesses tell of wrong guesses only: a step needs a cycle without any.
  [[nodiscard]] bool is_proof(std::span<const std::uint32_t> cycles) const {
    return std::ranges::any_of(cycles, [&](std::uint32_t c) {
      return !trust_.is_weak_guessed ||
             std::ranges::none_of(cycles_[c].numbers, [&](std::uint32_t number) {
               return evidence_of(number) == Evidence::weak;
             });
    });
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

  /// How fast clocks may be, and what that costs to tell.
  struct Rates {
    double bits = 0;
    std::int64_t ppb = 0;
  };
  /// The least limit that makes all feasible, if clocks may be so fast, and if that costs less than
  /// `bits` with the ends that do not coincide then.
  std::optional<Explanation> raise_rates(const Rates& rates, double bits) {
    const auto set_rates = [](System& system, std::int64_t ppb) {
      for (std::uint32_t c = 0; c < system.clocks(); ++c)
        system.set_rate(c, difference::RateRange::within(ppb));
    };
    const std::int64_t limit = constraints_.clocks.front().rate.upper_ppb;
    set_rates(without_ends_, rates.ppb);
    if (!greatest_below(without_ends_, start(without_ends_), effort_)) return std::nullopt;
    const auto least = set_least_rate(without_ends_, effort_, limit, start(without_ends_));
    if (!least || *least <= limit) return std::nullopt;
    set_rates(whole_, *least);
    const auto solved = greatest_below(whole_, start(whole_), effort_);
    set_rates(whole_, limit);
    if (!solved) {
      const std::size_t contradictions = 1 + solved.error().more.size();
      if (rates.bits + Prices::weak * static_cast<double>(contradictions) >= bits) {
        return std::nullopt;
      }
    }
    Explanation found;
    found.rate_ppb = *least;
    found.certificate = certificate();
    found.bits = rates.bits;
    return found;
  }

  Constraints constraints_;
  const Trust& trust_;
  difference::Effort& effort_;
  State state_ = State::open;
  Explanation found_;    ///< the cheapest so far
  System whole_;         ///< nothing relaxed but rates
  System without_ends_;  ///< the same without ends that coincide
  std::array<Rates, 2> rates_;
  std::vector<Cycle> cycles_;
  std::vector<std::uint32_t> clock_of_, number_of_;  ///< index: part; constraint of relaxed()
  std::vector<std::uint32_t> left_out_;              ///< constraints of relaxed()
  std::vector<Candidate> candidates_;
  std::vector<Relaxation> relaxations_;  ///< one per candidate
  std::uint32_t edges_left_ = 0;         ///< number of them in relaxed()
  std::size_t searches_ = 2;             ///< number in the next round: few where few cycles decide
  std::size_t tried_ = 0;                ///< number of rates_ that were tried
};

}  // namespace

std::optional<Explanation> explain(const Constraints& constraints, const Trust& trust,
                                   difference::Effort& effort) {
  Explainer as_given(constraints, trust, effort);
  std::vector<difference::Edge> edges;
  std::optional<Explainer> exchanged;
  for (;;) {
    const double bits = Prices::exchanged + (exchanged ? exchanged->bits() : 0);
    // A limit that the user gave is raised before anything else is supposed.
    const double least = trust.is_limit_given ? std::max(Prices::rate, bits) : bits;
    if (!trust.may_be_exchanged || as_given.bits() <= least) {
      if (!as_given.is_open()) return as_given.found();
      as_given.go_on();
      continue;
    }
    if (!exchanged) {
      for (const difference::Edge& edge : constraints.edges) {
        edges.push_back({edge.effect, edge.cause, edge.delay});
      }
      Constraints other = constraints;
      other.edges = edges;
      exchanged.emplace(other, trust, effort);
    }
    if (!exchanged->is_open()) {
      Explanation found;
      found.is_exchanged = true;
      found.certificate = as_given.certificate();
      found.bits = bits;
      return found;
    }
    exchanged->go_on();
  }
}

}  // namespace entrain::explain
