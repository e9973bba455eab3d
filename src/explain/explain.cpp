// SPDX-License-Identifier: BSD-3-Clause
#include "explain/explain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "explain/cover.hpp"

namespace entrain::explain {

namespace {

using difference::Constraints;
using difference::Event;
using difference::System;

/// Most searches for further cycles before a new explanation is tried, and most cycles.
constexpr std::size_t k_searches_at_once = 32, k_most_cycles = 8192;
constexpr std::size_t k_most_gaps = 4;  ///< gaps whose steps break a cycle together
/// Ticks, three days of nanoseconds; a longer need counts as this. So many of k_most_gaps per cycle
/// sum up without overflow.
constexpr Int128 k_most_need = Int128{1} << 48;
/// Bits: a step comes before pairs of its price, and one in a longer gap before others, as it is
/// likelier there. All ties of an explanation add up to less than any price differs.
constexpr double k_tie = 1e-6;
constexpr std::size_t k_most_equals = 16;      ///< searches for other explanations of one price
constexpr std::uint32_t k_order = 0xFFFFFFFF;  ///< number of a constraint that no run has

/// Stamps between which a cycle goes along a clock.
struct Range {
  Step step;
  /// True if a step in any gap breaks the cycle. Else the clock must lose time there, and a step
  /// loses no more than its gap.
  bool is_free = false;
  std::vector<Step> gaps;  ///< the longest gaps where steps may lose enough; unless it is free
};

/// A negative cycle.
struct Cycle {
  std::vector<Range> ranges;
  std::vector<std::uint32_t> numbers;     ///< constraints that it has, increasing
  std::int64_t need = 1;                  ///< ticks that steps must lose together to break it
  std::int64_t least_ppb = 0;             ///< limit on rates that breaks it; 0: unknown
  std::map<std::uint32_t, Int128> ticks;  ///< along each clock
};

/// Parts of candidates that all searches for covers may look at, and the share of what is left that
/// one may: a fifth of a second, and as exact as possible where few cycles decide.
constexpr std::size_t k_most_parts = std::size_t{1} << 25, k_share_of_parts = 8;

struct Relaxation {
  Step step;
  std::uint32_t number = 0;  ///< constraint, if it is none of the others
  bool is_step = false;
  std::int64_t rate_ppb = 0;  ///< limit on the rate of a clock, Step::clock, if it is above 0

  [[nodiscard]] bool drops() const { return !is_step && rate_ppb == 0; }
};

class Explainer {
 public:
  Explainer(const Constraints& constraints, const Trust& trust, difference::Effort& effort,
            const Estimate& estimate, std::size_t active)
      : constraints_(constraints),
        trust_(trust),
        effort_(effort),
        estimate_(estimate),
        active_(constraints_, estimate, active),
        rates_{
            Rates{trust.are_apart ? Prices::rates_of_all : Prices::rate, Prices::fastest_ppb / 2},
            Rates{trust.are_apart ? Prices::rates_of_all : Prices::rates_of_two,
                  Prices::fastest_ppb},
            Rates{trust.are_timers ? Prices::any_rate_of_timers : Prices::any_rate,
                  Prices::any_ppb}} {}

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
    if (state_ == State::found && !is_left) {
      add_equals();
      lower_rate();
    }
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

  /// Adds cycles that an explanation leaves, which have no active edge or pair in common. False if
  /// none is.
  bool find_more(const Explanation& found) {
    System system = relaxed(found);
    const std::size_t before = cycles_.size();
    for (std::size_t n = 0; n < searches_ && cycles_.size() <= k_most_cycles; ++n) {
      const auto solved =
          n == 0 ? solve(system, found) : greatest_below(system, start(system), effort_);
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
    if (!estimate_ && constraints_.offsets.empty()) return difference::Values(system.nodes(), 0);
    difference::Values values(system.nodes(), difference::k_unbounded);
    const bool is_whole = system.clocks() == constraints_.clocks.size();  // no clock was set
    values[0] = 0;
    for (difference::Node node = 1; node < system.stamped(); ++node) {
      const std::uint32_t part = system.clock(node), clock = is_whole ? part : clock_of_[part];
      values[node] = difference::k_tick * (estimate_ ? estimate_({clock, system.stamp(node)})
                                                     : constraints_.offsets[clock]);
    }
    return values;
  }

  /// Activates constraints that a solution of the active ones violates. False if there are none.
  bool activate_violated(const System& system, const difference::Values& solution,
                         const Explanation& found) {
    const auto is_left_out = [&](std::uint32_t number) { return is_relaxed(number, found); };
    return active_.add_violated({system, solution, parts_}, is_left_out, effort_);
  }
  /// A solution of all constraints but those that an explanation relaxes. `system`: relaxed(found),
  /// also of the active set in the end.
  difference::Solved<difference::Values> solve(System& system, const Explanation& found) {
    for (;; system = relaxed(found)) {
      auto solved = greatest_below(system, start(system), effort_);
      if (!solved || !activate_violated(system, *solved, found)) return solved;
    }
  }
  [[nodiscard]] bool is_feasible(const Explanation& found) {
    System system = relaxed(found);
    return solve(system, found).has_value();
  }

  void add(const difference::Certificate& certificate, const System& system) {
    using Kind = difference::Certificate::Kind;
    Cycle cycle;
    Int128 lacks = -certificate.length;
    RangesOfClocks of_clock;
    bool has_order = false;  // that of a step, which is none of the constraints
    for (const difference::Certificate::Step& step : certificate.steps) {
      if (step.kind != Kind::rate) {
        const std::uint32_t number =
            step.position + (step.kind == Kind::instance ? edges_left_ : 0);
        number_of_[number] == k_order ? void(has_order = true) : cycle.numbers.push_back(number);
        continue;
      }
      const Range way = way_of(step, system);
      const Int128 ticks = way.step.after - way.step.before;
      cycle.ticks[way.step.clock] += ticks;
      lacks += ticks * (system.limits(step.position).rate.upper_ppb - limit_ppb());
      add_range(way, of_clock, cycle);
    }
    cycle.need = static_cast<std::int64_t>(std::min(ceil_div(lacks, gain()), k_most_need));
    if (certificate.rate_ticks > 0 && !has_order) {
      cycle.least_ppb = limit_ppb() + static_cast<std::int64_t>(
                                          std::min(ceil_div(lacks, Int128{certificate.rate_ticks}),
                                                   Int128{Prices::any_ppb} + 1));
    }
    for (Range& range : cycle.ranges) {
      if (!range.is_free) range.gaps = longest_gaps(range.step, cycle.need);
    }
    left_out_.insert(left_out_.end(), cycle.numbers.begin(), cycle.numbers.end());
    for (std::uint32_t& number : cycle.numbers) number = number_of_[number];
    std::ranges::sort(cycle.numbers);
    cycle.numbers.erase(std::unique(cycle.numbers.begin(), cycle.numbers.end()),
                        cycle.numbers.end());
    cycles_.push_back(std::move(cycle));
  }
  /// The limit on all rates, as it is known.
  [[nodiscard]] std::int64_t limit_ppb() const {
    return constraints_.clocks.front().rate.upper_ppb;
  }
  /// Length that a lost tick adds to a cycle.
  [[nodiscard]] Int128 gain() const { return k_billion - limit_ppb(); }
  [[nodiscard]] Range way_of(const difference::Certificate::Step& step,
                             const System& system) const {
    const std::int64_t from = system.stamp(step.from), to = system.stamp(step.to);
    const auto [first, last] = std::minmax(from, to);
    return {{clock_of_[step.position], first, last}, from <= to, {}};
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
      range.is_free = range.is_free || way.is_free;
      return;
    }
    own.push_back(cycle.ranges.size());
    cycle.ranges.push_back(way);
  }

  /// The system without what an explanation relaxes. A clock that was set is one clock before and
  /// another one after the step.
  System relaxed(const Explanation& found) {
    parts_ = Parts(constraints_.clocks.size());
    for (const Step& step : found.steps) parts_.begins[step.clock].push_back(step.after);
    std::vector<difference::ClockLimits> limits;
    std::vector<std::int64_t> offsets;
    clock_of_.clear();
    for (std::uint32_t c = 0; c < parts_.begins.size(); ++c) {
      const std::size_t own = parts_.begins[c].size() + 1;
      parts_.first[c] = static_cast<std::uint32_t>(limits.size());
      const bool is_fast = std::ranges::binary_search(found.fast, c);
      limits.insert(
          limits.end(), own,
          is_fast ? difference::ClockLimits{.rate = difference::RateRange::within(*found.rate_ppb)}
                  : constraints_.clocks[c]);
      clock_of_.insert(clock_of_.end(), own, c);
      if (!constraints_.offsets.empty())
        offsets.insert(offsets.end(), own, constraints_.offsets[c]);
    }
    const Parts& part = parts_;
    number_of_.clear();
    BigVector<difference::Edge> edges;
    const auto add = [&](std::uint32_t number, const difference::Edge& edge) {
      if (is_relaxed(number, found)) return;
      edges.push_back({part(edge.cause), part(edge.effect), edge.delay});
      number_of_.push_back(number);
    };
    const auto all = static_cast<std::uint32_t>(constraints_.edges.size());
    for (const auto& [edge, number] : active_.pairs()) add(number, edge);
    for (std::uint32_t e = 0; e < all && active_.has_all(); ++e) add(e, constraints_.edges[e]);
    for (const Step& step : found.steps) {
      edges.push_back({part({step.clock, step.before}), part({step.clock, step.after}), 1});
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
    for (std::uint32_t i = 0; i < constraints_.instances.size() && active_.has_all(); ++i) {
      if (is_relaxed(all + i, found)) continue;
      const difference::Instance& one = constraints_.instances[i];
      instances.push_back({parts_of(one.begins), parts_of(one.ends), one.delay});
      number_of_.push_back(all + i);
    }
    return System({.clocks = limits,
                   .reference = part.first[constraints_.reference],
                   .edges = edges,
                   .instances = instances,
                   .offsets = offsets});
  }

  [[nodiscard]] bool is_relaxed(std::uint32_t number, const Explanation& found) const {
    const auto edges = static_cast<std::uint32_t>(constraints_.edges.size());
    return number < edges ? std::ranges::binary_search(found.edges, number)
                          : std::ranges::binary_search(found.instances, number - edges);
  }

  /// Finds the cheapest relaxations that break all cycles so far. False: nothing breaks one.
  bool find_cheapest(Explanation& found) {
    find_candidates();
    found = {};
    Cover cover(candidates_, needs(), parts_left_ / k_share_of_parts);
    cheapest_ = cover.run();
    parts_left_ -= std::min(parts_left_, cover.looked_at());
    // A part takes a quarter of the time of a step of the search for cycles, and four steps to be
    // found and sorted.
    std::size_t parts = 0;
    for (const Candidate& candidate : candidates_) parts += candidate.parts.size();
    effort_.spent += 4 * parts + cover.looked_at() / 4;
    if (cheapest_.empty()) return false;
    found = explanation_of(cheapest_);
    return true;
  }
  [[nodiscard]] Explanation explanation_of(std::span<const std::uint32_t> candidates) const {
    Explanation found;
    std::map<Step, std::uint32_t> steps;
    const auto edges = static_cast<std::uint32_t>(constraints_.edges.size());
    for (const std::uint32_t c : candidates) {
      const Relaxation& relaxation = relaxations_[c];
      found.bits += relaxation.is_step ? Prices::step : candidates_[c].price;
      if (relaxation.rate_ppb > 0) {
        found.fast.push_back(relaxation.step.clock);
        found.rate_ppb = std::max(found.rate_ppb.value_or(0), relaxation.rate_ppb);
      } else if (relaxation.is_step) {
        steps[relaxation.step] = static_cast<std::uint32_t>(candidates_[c].parts.size());
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
    std::sort(found.fast.begin(), found.fast.end());
    found.fast.erase(std::unique(found.fast.begin(), found.fast.end()), found.fast.end());
    if (found.rate_ppb) found.certificate = certificate();
    return found;
  }

  /// Lowers the limit on rates of fast clocks to the least one, or to 1 % more than that.
  void lower_rate() {
    if (found_.fast.empty()) return;
    std::int64_t low = limit_ppb();
    while (low + low / 100 < *found_.rate_ppb) {
      const auto middle = static_cast<std::int64_t>(
          std::sqrt(static_cast<double>(low) * static_cast<double>(*found_.rate_ppb)));
      Explanation slower = found_;
      slower.rate_ppb = middle;
      (is_feasible(slower) ? *found_.rate_ppb : low) = middle;
    }
  }

  /// Drops also what could be dropped instead, at the same price: nothing tells which one is wrong.
  /// Looks at no more than k_most_equals.
  void add_equals() {
    if (cheapest_.empty() || (found_.rate_ppb && found_.fast.empty())) return;
    std::set<std::uint32_t> dropped(found_.edges.begin(), found_.edges.end());
    const auto edges = static_cast<std::uint32_t>(constraints_.edges.size());
    for (const std::uint32_t i : found_.instances) dropped.insert(edges + i);
    std::size_t tried = 0;
    for (std::uint32_t& chosen : cheapest_) {
      if (!relaxations_[chosen].drops()) continue;
      const std::uint32_t before = chosen;
      for (std::uint32_t c = 0; c < candidates_.size() && tried < k_most_equals; ++c) {
        if (!is_equal(c, before)) continue;
        chosen = c;
        if (is_cover(cheapest_)) {
          ++tried;
          if (is_feasible(explanation_of(cheapest_))) dropped.insert(relaxations_[c].number);
        }
        chosen = before;
      }
    }
    const auto instances = dropped.lower_bound(edges);
    found_.edges.assign(dropped.begin(), instances);
    found_.instances.clear();
    for (auto it = instances; it != dropped.end(); ++it) found_.instances.push_back(*it - edges);
  }
  /// True if another constraint costs as much to drop, and breaks some of the same cycles.
  [[nodiscard]] bool is_equal(std::uint32_t c, std::uint32_t other) const {
    return c != other && relaxations_[c].drops() &&
           candidates_[c].price == candidates_[other].price &&
           std::ranges::count(cheapest_, c) == 0 &&
           std::ranges::any_of(candidates_[c].parts, [&](const Candidate::Part& part) {
             return std::ranges::binary_search(candidates_[other].parts, part.cycle, {},
                                               &Candidate::Part::cycle);
           });
  }
  [[nodiscard]] bool is_cover(std::span<const std::uint32_t> candidates) const {
    std::vector<std::int64_t> left = needs();
    for (const std::uint32_t c : candidates) {
      for (const Candidate::Part& part : candidates_[c].parts) left[part.cycle] -= part.lost;
    }
    return std::ranges::all_of(left, [](std::int64_t need) { return need <= 0; });
  }
  [[nodiscard]] std::vector<std::int64_t> needs() const {
    std::vector<std::int64_t> all;
    for (const Cycle& cycle : cycles_) all.push_back(cycle.need);
    return all;
  }

  void find_candidates() {
    candidates_.clear();
    relaxations_.clear();
    std::map<std::uint32_t, std::vector<Candidate::Part>> of_number;
    std::map<std::uint32_t, std::vector<Part>> of_clock;
    for (std::uint32_t c = 0; c < cycles_.size(); ++c) {
      for (const std::uint32_t number : cycles_[c].numbers) {
        of_number[number].push_back({c, cycles_[c].need});
      }
      for (const Range& range : cycles_[c].ranges) {
        of_clock[range.step.clock].push_back({&range, c});
      }
    }
    for (const auto& [clock, parts] : of_clock) {
      add_steps(parts);
      add_rates(clock, parts);
    }
    for (auto& [number, cycles] : of_number) {
      const Evidence evidence = evidence_of(number);
      if (evidence == Evidence::certain) continue;
      candidates_.push_back({price_of(evidence), std::move(cycles)});
      relaxations_.push_back({.step = {}, .number = number});
    }
  }
  [[nodiscard]] Evidence evidence_of(std::uint32_t number) const {
    const std::size_t edges = constraints_.edges.size();
    if (number < edges) return trust_.edges.empty() ? Evidence::usual : trust_.edges[number];
    if (is_end(number)) return Evidence::weak;
    return trust_.instances.empty() ? Evidence::usual : trust_.instances[number - edges];
  }

  /// A part of a clock's run that a cycle goes along.
  struct Part {
    const Range* range = nullptr;
    std::uint32_t cycle = 0;
  };
  /// Adds the gaps between stamps in which a clock may have been set.
  void add_steps(std::span<const Part> parts) {
    for (const Step& step : gaps_of(parts)) {
      const auto gap = static_cast<double>(step.after - step.before);
      Candidate candidate{Prices::step - k_tie * (1 + std::log2(1 + gap)), {}};
      for (const auto& [range, cycle] : parts) {
        if (range->step.before > step.before || range->step.after < step.after) continue;
        const std::int64_t need = cycles_[cycle].need;
        const std::int64_t lost = range->is_free ? need : std::min(need, step.after - step.before);
        auto& own = candidate.parts;
        if (own.empty() || own.back().cycle != cycle) own.push_back({cycle, lost});
        own.back().lost = std::max(own.back().lost, lost);
      }
      if (!is_proof(candidate.parts)) continue;
      candidates_.push_back(std::move(candidate));
      relaxations_.push_back({.step = step, .number = 0, .is_step = true});
    }
  }
  void add_rates(std::uint32_t clock, std::span<const Part> parts) {
    if (!trust_.are_apart) return;
    for (const auto& [price, ppb] : {std::pair(Prices::rate, Prices::fastest_ppb),
                                     std::pair(2 * Prices::rate, 2 * Prices::fastest_ppb),
                                     std::pair(Prices::rates_of_all, Prices::any_ppb)}) {
      Candidate candidate{price, {}};
      for (const auto& [range, cycle] : parts) {
        const std::int64_t need = cycles_[cycle].need;
        const Int128 lost = cycles_[cycle].ticks.at(clock) * (ppb - limit_ppb()) / gain();
        if (lost == 0 || need == k_most_need) continue;
        if (!candidate.parts.empty() && candidate.parts.back().cycle == cycle) continue;
        candidate.parts.push_back({cycle, static_cast<std::int64_t>(std::min<Int128>(lost, need))});
      }
      if (candidate.parts.empty() || !is_proof(candidate.parts)) continue;
      candidates_.push_back(std::move(candidate));
      relaxations_.push_back({.step = {clock, 0, 0}, .rate_ppb = ppb});
    }
  }
  /// The longest gap between a begin of a part and the next end of one, where most cycles are
  /// broken at once; and those that lose most of what a single part needs.
  [[nodiscard]] std::set<Step> gaps_of(std::span<const Part> parts) {
    std::set<Step> gaps;
    std::vector<std::int64_t> firsts, lasts;
    for (const Part& part : parts) {
      firsts.push_back(part.range->step.before), lasts.push_back(part.range->step.after);
      gaps.insert(part.range->gaps.begin(), part.range->gaps.end());
    }
    std::sort(firsts.begin(), firsts.end());
    std::sort(lasts.begin(), lasts.end());
    const std::uint32_t clock = parts.front().range->step.clock;
    const auto add = [&](std::int64_t first, std::int64_t last) {
      if (first < last) gaps.insert(longest_gaps({clock, first, last}, 1).front());
    };
    for (std::size_t f = 0, l = 0; f < firsts.size(); ++f) {
      while (lasts[l] <= firsts[f]) ++l;
      if (f + 1 < firsts.size() && firsts[f + 1] < lasts[l]) continue;
      add(firsts[f], lasts[l]);
      // Where a few cycles less are broken, which another clock may break.
      if (l + 1 < lasts.size()) add(lasts[l], lasts[l + 1]);
      if (f > 0) add(firsts[f - 1], firsts[f]);
    }
    return gaps;
  }

  /// Guesses tell of wrong guesses only: a step needs a cycle without any.
  [[nodiscard]] bool is_proof(std::span<const Candidate::Part> parts) const {
    return std::ranges::any_of(parts, [&](const Candidate::Part& part) {
      return !trust_.is_weak_guessed ||
             std::ranges::none_of(cycles_[part.cycle].numbers, [&](std::uint32_t number) {
               return evidence_of(number) == Evidence::weak;
             });
    });
  }

  /// The longest gaps between neighbouring stamps within a part of a clock's run, longest first: as
  /// many as have `need` ticks together, but no more than k_most_gaps.
  [[nodiscard]] std::vector<Step> longest_gaps(const Step& within, std::int64_t need) {
    const auto is_longer = [](const Step& a, const Step& b) {
      return a.after - a.before > b.after - b.before;
    };
    std::vector<Step> longest;
    const std::vector<std::int64_t>& stamps = active_.stamps(within.clock);
    auto stamp = std::ranges::lower_bound(stamps, within.before);
    for (; *stamp < within.after; ++stamp) {
      const Step gap{within.clock, *stamp, *(stamp + 1)};
      if (longest.size() == k_most_gaps && !is_longer(gap, longest.back())) continue;
      longest.insert(std::upper_bound(longest.begin(), longest.end(), gap, is_longer), gap);
      if (longest.size() > k_most_gaps) longest.pop_back();
    }
    std::size_t count = 0;
    for (std::int64_t lost = 0; count < longest.size() && lost < need; ++count) {
      lost += longest[count].after - longest[count].before;
    }
    longest.resize(count);
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
    Explanation no_ends;
    no_ends.instances = ends();
    std::int64_t least = least_rate_of_cycles();
    if (least > rates.ppb) return std::nullopt;
    for (bool is_least = false; !is_least;) {
      System system = relaxed(no_ends);
      const auto found = set_least_rate(system, effort_, {least, rates.ppb}, start(system));
      if (!found) return std::nullopt;
      least = found->ppb;
      is_least = !activate_violated(system, found->solution, no_ends);
    }
    if (least <= limit_ppb()) return std::nullopt;
    if (!no_ends.instances.empty()) {
      Explanation fast;
      fast.rate_ppb = least;
      fast.fast.resize(constraints_.clocks.size());
      std::iota(fast.fast.begin(), fast.fast.end(), 0U);
      System system = relaxed(fast);
      if (const auto solved = solve(system, fast); !solved) {
        const std::size_t contradictions = 1 + solved.error().more.size();
        if (rates.bits + Prices::weak * static_cast<double>(contradictions) >= bits) {
          return std::nullopt;
        }
      }
    }
    Explanation found;
    found.rate_ppb = least;
    found.certificate = certificate();
    found.bits = rates.bits;
    return found;
  }
  /// The limit on all rates that the cycles so far demand at least, if ends do not coincide.
  [[nodiscard]] std::int64_t least_rate_of_cycles() const {
    std::int64_t least = limit_ppb();
    for (const Cycle& cycle : cycles_) {
      const bool has_ends =
          std::ranges::any_of(cycle.numbers, [&](std::uint32_t number) { return is_end(number); });
      if (!has_ends) least = std::max(least, cycle.least_ppb);
    }
    return least;
  }
  /// True if a constraint is an instance whose ends should coincide.
  [[nodiscard]] bool is_end(std::uint32_t number) const {
    const std::size_t edges = constraints_.edges.size();
    return number >= edges && constraints_.instances[number - edges].delay < 0;
  }
  /// Their positions among the instances.
  [[nodiscard]] std::vector<std::uint32_t> ends() const {
    std::vector<std::uint32_t> ends;
    for (std::uint32_t i = 0; i < constraints_.instances.size(); ++i) {
      if (constraints_.instances[i].delay < 0) ends.push_back(i);
    }
    return ends;
  }

  Constraints constraints_;
  const Trust& trust_;
  difference::Effort& effort_;
  const Estimate& estimate_;
  State state_ = State::open;
  Explanation found_;  ///< the cheapest so far
  ActiveSet active_;
  Parts parts_;  ///< parts of the clocks of relaxed()
  std::array<Rates, 3> rates_;
  std::vector<Cycle> cycles_;
  std::vector<std::uint32_t> clock_of_, number_of_;  ///< index: part; constraint of relaxed()
  std::vector<std::uint32_t> left_out_;              ///< constraints of relaxed()
  std::vector<Candidate> candidates_;
  std::vector<Relaxation> relaxations_;  ///< one per candidate
  std::vector<std::uint32_t> cheapest_;  ///< candidates of the cheapest explanation so far
  std::uint32_t edges_left_ = 0;         ///< number of them in relaxed()
  std::size_t searches_ = 2;             ///< number in the next round: few where few cycles decide
  std::size_t tried_ = 0;                ///< number of rates_ that were tried
  std::size_t parts_left_ = k_most_parts;
};

}  // namespace

std::optional<Explanation> explain(const Constraints& constraints, const Trust& trust,
                                   difference::Effort& effort, const Estimate& estimate,
                                   std::size_t active) {
  Explainer as_given(constraints, trust, effort, estimate, active);
  std::vector<difference::Edge> edges;
  std::optional<Explainer> exchanged;
  for (;;) {
    double bits = Prices::exchanged + (exchanged ? exchanged->bits() : 0);
    if (bits > Prices::exchanged + Prices::left_of_exchanged) {
      bits = std::numeric_limits<double>::infinity();
    }
    // A limit that the user gave is raised before anything else is supposed.
    const double least = trust.is_limit_given ? std::max(Prices::rates_of_two, bits) : bits;
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
      exchanged.emplace(other, trust, effort, estimate, active);
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
