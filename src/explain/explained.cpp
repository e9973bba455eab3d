// SPDX-License-Identifier: BSD-3-Clause
#include "explain/explained.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/exact.hpp"
#include "explain/active_set.hpp"
#include "explain/given_constraints.hpp"
#include "explain/step_place.hpp"

namespace entrain::explain {

namespace {

constexpr std::size_t k_most_constraints = std::size_t{1} << 21;
/// Steps of the search: about a second, and about so many sweeps over all edges.
constexpr std::uint64_t k_most_steps = std::uint64_t{1} << 26, k_sweeps = 256;

/// True if more than 3 edges are set aside, or steps found, and more than one in twenty.
bool is_much(std::uint64_t dropped, std::uint64_t all) {
  constexpr std::uint64_t k_few = 3, k_share = 20;
  return dropped > k_few && dropped * k_share > all;
}

/// True if rates are higher than assumed. One clock that nothing disciplines may be fast.
bool is_fast(const Explanation& explanation, const Knowledge& known) {
  const std::int64_t assumed = explanation.fast.empty()
                                   ? known.assumed_ppb
                                   : std::max(known.assumed_ppb, Prices::fastest_ppb);
  return explanation.rate_ppb.value_or(0) > assumed;
}

/// Adds the part of a map between two stamps.
void add_part(const ClockMap& map, std::uint64_t first, std::uint64_t last,
              std::vector<ClockKnot>& knots) {
  const auto add = [&](std::uint64_t stamp) {
    knots.push_back({stamp, map(stamp) - static_cast<std::int64_t>(stamp)});
  };
  add(first);
  for (const ClockKnot& knot : map.knots()) {
    if (knot.local > first && knot.local < last) knots.push_back(knot);
  }
  if (last > first) add(last);
}

/// An explanation of constraints, and the stamp that it counts from.
struct Found {
  std::optional<Explanation> explanation;
  std::uint64_t base = 0;
};

/// True if some clocks meet all edges: a search of those that no other one implies, mostly a few.
bool are_met(difference::Constraints constraints, difference::Effort effort) {
  const auto edges = difference::without_implied(constraints.edges, constraints.clocks);
  constraints.edges = edges;
  const difference::System system(constraints);
  return greatest_below(system, difference::Values(system.nodes(), 0), effort).has_value();
}

Found explain_edges(std::size_t clocks, const Edges& edges, const Knowledge& known) {
  const GivenConstraints constraints(clocks, edges, known.rate_ppb, known.offsets);
  if (!constraints.fit()) return {};
  difference::Effort effort{.most = k_most_steps +
                                    k_sweeps * (edges.cause_clock.size() + edges.members.size())};
  if (known.estimate.empty() && edges.members.empty() && are_met(constraints.view(), effort)) {
    return {Explanation(), constraints.base()};
  }
  Estimate estimate;
  if (!known.estimate.empty()) {
    estimate = [&](difference::Event event) {
      const std::uint64_t stamp = constraints.base() + static_cast<std::uint64_t>(event.stamp);
      return known.estimate[event.clock](stamp) - static_cast<std::int64_t>(stamp);
    };
  }
  return {explain(constraints.view(), known.trust, effort, estimate), constraints.base()};
}

/// Edges that backward steps set aside, increasing.
std::vector<std::uint32_t> edges_of(std::span<const BackwardStep> backward) {
  std::vector<std::uint32_t> all;
  for (const BackwardStep& step : backward) {
    all.insert(all.end(), step.edges.begin(), step.edges.end());
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// The same of clocks that were set back: each is several clocks, and has no edges at times that it
/// shows twice. Adds these steps and edges, at the price of a step each.
Found explain_rest(std::size_t clocks, const Edges& edges, std::span<const BackwardStep> backward,
                   Knowledge known) {
  const std::vector<std::uint32_t> dropped = edges_of(backward);
  Parts parts(clocks);
  for (const BackwardStep& step : backward) {
    for (const auto& [before, after] : step.cuts) {
      parts.begins[step.clock].push_back(static_cast<std::int64_t>(after));
    }
  }
  std::vector<std::uint32_t> clock_of;
  std::vector<std::int64_t> offsets;
  for (std::uint32_t c = 0; c < clocks; ++c) {
    parts.first[c] = static_cast<std::uint32_t>(clock_of.size());
    clock_of.resize(clock_of.size() + parts.begins[c].size() + 1, c);
    if (!known.offsets.empty()) offsets.resize(clock_of.size(), known.offsets[c]);
  }
  std::vector<std::uint32_t> left;
  std::vector<Evidence> trusts;
  for (std::uint32_t e = 0; e < edges.cause_clock.size(); ++e) {
    if (edges.cause_clock[e] == edges.effect_clock[e]) continue;
    if (std::ranges::binary_search(dropped, e)) continue;
    left.push_back(e);
    if (!known.trust.edges.empty()) trusts.push_back(known.trust.edges[e]);
  }
  const auto part = [&](std::uint32_t clock, std::uint64_t time) {
    return EdgeList::End{parts({clock, static_cast<std::int64_t>(time)}).clock, time};
  };
  const EdgeList rest = regroup(edges, {.end_of = part, .no_edges = dropped});
  known.trust.edges = trusts, known.offsets = offsets;
  known.estimate = {};  // it was made of all edges
  Found found = explain_edges(clock_of.size(), rest.view(), known);
  if (!found.explanation) return found;
  Explanation& explanation = *found.explanation;
  for (std::vector<std::uint32_t>* numbers : {&explanation.edges, &explanation.certificate}) {
    for (std::uint32_t& e : *numbers) e = left[e];
  }
  explanation.edges.insert(explanation.edges.end(), dropped.begin(), dropped.end());
  std::ranges::sort(explanation.edges);
  for (std::uint32_t& fast : explanation.fast) fast = clock_of[fast];
  explanation.fast.erase(std::unique(explanation.fast.begin(), explanation.fast.end()),
                         explanation.fast.end());
  std::map<Step, std::uint32_t> steps;
  for (std::size_t s = 0; s < explanation.steps.size(); ++s) {
    const Step& step = explanation.steps[s];
    steps[{clock_of[step.clock], step.before, step.after}] = explanation.evidence[s];
  }
  for (const BackwardStep& step : backward) {
    for (const auto& [before, after] : step.cuts) {
      steps[{step.clock, static_cast<std::int64_t>(before - found.base),
             static_cast<std::int64_t>(after - found.base)}] =
          static_cast<std::uint32_t>(step.edges.size());
    }
    explanation.bits += Prices::step * static_cast<double>(step.times);
  }
  explanation.steps.clear(), explanation.evidence.clear();
  for (const auto& [step, evidence] : steps) {
    explanation.steps.push_back(step), explanation.evidence.push_back(evidence);
  }
  return found;
}

/// The cheapest explanation by some of the clocks that seem to be set back: `backward` keeps these.
Found explain_backward(std::size_t clocks, const Edges& edges, const Knowledge& known,
                       std::vector<BackwardStep>& backward) {
  constexpr std::size_t k_most_trials = 8;  // each is an explanation of its own
  const auto explained = [&](std::span<const BackwardStep> some) {
    Found found = explain_rest(clocks, edges, some, known);
    if (found.explanation && found.explanation->is_exchanged) found.explanation.reset();
    return found;
  };
  Found best = explained(backward);
  for (std::size_t i = backward.size(); i-- > 0 && backward.size() <= k_most_trials;) {
    if (backward.size() == 1) break;
    std::vector<BackwardStep> fewer = backward;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    Found found = explained(fewer);
    if (!found.explanation ||
        (best.explanation && found.explanation->bits > best.explanation->bits)) {
      continue;
    }
    best = std::move(found), backward = std::move(fewer);
  }
  return best;
}

/// A time as sentences have it: of the day if it is one since 1970, else seconds.
std::string words_for_time(std::uint64_t time, std::uint64_t resolution_hz) {
  constexpr std::uint64_t k_year_2000 = 946'684'800, k_s_per_day = 86'400, k_us = 1'000'000;
  const std::uint64_t second = time / resolution_hz, of_day = second % k_s_per_day;
  // Records may differ by a tick.
  const auto [unit, digits] = resolution_hz > k_us ? std::pair(1000 * k_us, 9) : std::pair(k_us, 6);
  const std::string fraction = fmt::format(
      "{:0{}}", static_cast<std::uint64_t>(Int128{time % resolution_hz} * unit / resolution_hz),
      digits);
  if (second < k_year_2000) return fmt::format("{}.{} s", second, fraction);
  return fmt::format("{:02}:{:02}:{:02}.{} UTC", of_day / 3600, of_day / 60 % 60, of_day % 60,
                     fraction);
}

}  // namespace

std::optional<Explained> Explained::find(const Clocks& run, const Edges& edges,
                                         const Knowledge& known) {
  const std::size_t size = edges.cause_clock.size() + edges.members.size();
  if (size == 0 || size > k_most_constraints) return std::nullopt;
  auto [explanation, base] = explain_edges(run.clocks.size(), edges, known);
  std::vector<BackwardStep> backward;
  constexpr double k_dear = Prices::rates_of_all;  // more than three steps
  const bool is_dear = !explanation || explanation->bits > k_dear;
  if (is_dear && edges.instances.empty()) {
    backward = find_backward_steps(run.clocks.size(), edges);
  }
  if (!backward.empty()) {
    Found rest = explain_backward(run.clocks.size(), edges, known, backward);
    if (rest.explanation && (!explanation || rest.explanation->bits < explanation->bits)) {
      explanation = std::move(rest.explanation), base = rest.base;
    } else {
      backward.clear();
    }
  }
  if (!explanation) return std::nullopt;
  // Ends that do not coincide are no fault of a record.
  std::erase_if(explanation->instances,
                [&](std::uint32_t i) { return i >= edges.instances.size(); });
  const bool is_empty = explanation->steps.empty() && explanation->edges.empty() &&
                        explanation->instances.empty() && !is_fast(*explanation, known) &&
                        !explanation->is_exchanged;
  if (is_empty) return std::nullopt;
  if (explanation->is_exchanged) {
    explanation->edges.resize(edges.cause_clock.size());
    std::iota(explanation->edges.begin(), explanation->edges.end(), 0U);
  }
  return Explained(run, edges, base, known, *std::move(explanation), std::move(backward));
}

Explained::Explained(const Clocks& run, const Edges& edges, std::uint64_t base,
                     const Knowledge& known, Explanation explanation,
                     std::vector<BackwardStep> backward)
    : run_(&run),
      names_(known.names.begin(), known.names.end()),
      run_edges_(edges),
      base_(base),
      evidence_(edges.cause_clock.size() + edges.instances.size(), Evidence::usual),
      assumed_ppb_(known.assumed_ppb),
      explanation_(std::move(explanation)),
      backward_(std::move(backward)) {
  if (!is_fast(explanation_, known)) explanation_.rate_ppb.reset();
  std::ranges::copy(known.trust.edges, evidence_.begin());
  std::ranges::copy(known.trust.instances,
                    evidence_.begin() + static_cast<std::ptrdiff_t>(edges.cause_clock.size()));
  for (const BackwardStep& step : backward_) set_back_.push_back(step.clock);
  std::ranges::sort(set_back_);
  const std::size_t first_of_ends = evidence_.size();
  std::erase_if(explanation_.certificate,
                [&](std::uint32_t number) { return number >= first_of_ends; });
  if (names_.empty()) {
    for (const Clock& clock : run.clocks) names_.push_back(clock.name);
  }
  divide_clocks();
  list_ = regroup(edges, {[&](std::uint32_t clock, std::uint64_t time) {
                            return EdgeList::End{part_of(clock, time), time};
                          },
                          explanation_.edges, explanation_.instances});
  // A clock keeps the order of its stamps where it was set.
  for (const Step& step : explanation_.steps) {
    const std::uint64_t before = time_of(step.before), after = time_of(step.after);
    list_.add({part_of(step.clock, before), before}, {part_of(step.clock, after), after});
    if (!list_.min_delay.empty()) list_.min_delay.push_back(0);
    if (!list_.kind.empty()) list_.kind.push_back(EdgeKind::p2p);
  }
}

void Explained::divide_clocks() {
  clocks_ = {.name = run_->name, .resolution_hz = run_->resolution_hz, .clocks = {}};
  for (std::uint32_t c = 0; c < run_->clocks.size(); ++c) {
    first_.push_back(static_cast<std::uint32_t>(clocks_.clocks.size()));
    clocks_.clocks.push_back(run_->clocks[c]);
    for (const Step& step : steps_of(c)) {
      Clock after = clocks_.clocks.back();
      Clock& before = clocks_.clocks.back();
      after.name += ", set";
      after.domain.clear();
      after.process.clear();  // else the part before would carry it
      if (after.events) {
        before.events->last = time_of(step.before);
        after.events->first = time_of(step.after);
      }
      std::erase_if(before.sessions, [&](const ClockSession& session) {
        return session.time > time_of(step.before);
      });
      std::erase_if(after.sessions, [&](const ClockSession& session) {
        return session.time < time_of(step.after);
      });
      clocks_.clocks.push_back(std::move(after));
    }
    clock_of_.resize(clocks_.clocks.size(), c);
  }
}

std::span<const Step> Explained::steps_of(std::uint32_t clock) const {
  return {std::ranges::lower_bound(explanation_.steps, clock, {}, &Step::clock),
          std::ranges::upper_bound(explanation_.steps, clock, {}, &Step::clock)};
}

std::uint32_t Explained::part_of(std::uint32_t clock, std::uint64_t time) const {
  const auto steps = steps_of(clock);
  const auto before =
      std::ranges::count_if(steps, [&](const Step& step) { return time_of(step.after) <= time; });
  return first_[clock] + static_cast<std::uint32_t>(before);
}

void Explained::place_steps(std::span<const ClockMap> maps) {
  using Role = BoundedEvent::Role;
  std::map<std::uint32_t, std::vector<BoundedEvent>> events;  // of clocks that were set
  for (const Step& step : explanation_.steps) {
    if (!std::ranges::binary_search(set_back_, step.clock)) events[step.clock];
  }
  const auto add = [&](std::uint32_t clock, const BoundedEvent& event) {
    if (const auto own = events.find(clock); own != events.end()) own->second.push_back(event);
  };
  const auto time = [&](std::uint32_t clock, std::uint64_t stamp) {
    return maps[part_of(clock, stamp)](stamp);
  };
  for (std::uint32_t e = 0; e < run_edges_.cause_clock.size(); ++e) {
    if (std::ranges::binary_search(explanation_.edges, e)) continue;
    const std::uint32_t cause = run_edges_.cause_clock[e], effect = run_edges_.effect_clock[e];
    if (!events.contains(cause) && !events.contains(effect)) continue;
    const std::uint64_t from = run_edges_.cause_time[e], to = run_edges_.effect_time[e];
    const Int128 delay = run_edges_.min_delay.empty() ? 0 : run_edges_.min_delay[e];
    add(cause, {from, time(effect, to) - delay, Role::cause});
    add(effect, {to, time(cause, from) + delay, Role::effect});
  }
  for (const InstanceMember& member : run_edges_.members) {
    add(member.clock, {member.time, 0, Role::fixed});
  }
  for (auto& [clock, all] : events) {
    auto& own = all;  // lambdas of clang 14 cannot hold a part of a binding
    std::ranges::stable_sort(own, {}, &BoundedEvent::stamp);
    auto first = own.begin();
    for (Step& step : explanation_.steps) {
      if (step.clock != clock) continue;
      const std::uint32_t part = part_of(clock, time_of(step.before));
      const auto begin_of = [&](std::int64_t after) {
        return std::ranges::lower_bound(own, time_of(after), {}, &BoundedEvent::stamp);
      };
      const Step* const next = &step + 1;
      const bool is_last =
          next == explanation_.steps.data() + explanation_.steps.size() || next->clock != clock;
      const std::span<const BoundedEvent> around(first,
                                                 is_last ? own.end() : begin_of(next->after));
      const auto known = static_cast<std::size_t>(begin_of(step.after) - first);
      const bool is_alone = known == 0 || known >= around.size();  // no events on one side
      const std::size_t place =
          is_alone ? known : place_step(around, known, maps[part], maps[part + 1]);
      if (place != known) {
        step.before = static_cast<std::int64_t>(around[place - 1].stamp - base_);
        step.after = static_cast<std::int64_t>(around[place].stamp - base_);
      }
      first += static_cast<std::ptrdiff_t>(place);
    }
  }
}

std::optional<std::vector<ClockMap>> Explained::join(std::span<const ClockMap> maps,
                                                     std::span<const StampRange> extents) const {
  std::vector<ClockMap> joined;
  for (std::uint32_t c = 0; c < run_->clocks.size(); ++c) {
    std::uint32_t part = first_[c];
    joined.push_back(maps[part]);
    if (steps_of(c).empty()) continue;
    std::vector<ClockKnot> knots;
    std::uint64_t first = extents[c].first;
    for (const Step& step : steps_of(c)) {
      const std::uint64_t before = time_of(step.before), after = time_of(step.after);
      const std::int64_t apart = maps[part + 1](after) - maps[part](before);
      const std::uint64_t reach =
          std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(apart, 0)), after - before) /
          4;
      add_part(maps[part++], first, before + reach, knots);
      first = after - reach;
    }
    add_part(maps[part], first, extents[c].last, knots);
    Result<ClockMap> map = ClockMap::from_knots(std::move(knots));
    if (!map || !map->keeps_order(extents[c].first, extents[c].last)) return std::nullopt;
    joined.back() = *std::move(map);
  }
  return joined;
}

void Told::doubt(const Told& other) {
  wrong = std::max(wrong, other.wrong);
  is_too_fast |= other.is_too_fast;
  is_tied |= other.is_tied;
}

ClockExplanation told_step(const std::string& clock, std::uint64_t time,
                           std::optional<std::int64_t> size, std::uint64_t resolution_hz) {
  const std::string by = size
                             ? fmt::format(" by {:+.3f} ms", static_cast<double>(*size) * 1e3 /
                                                                 static_cast<double>(resolution_hz))
                             : "";
  return {.kind = ExplanationKind::step,
          .clocks = {clock},
          .time_ticks = time,
          .size_ticks = size,
          .bits = Prices::step,
          .text = fmt::format("the clock of {} was set{} at {}", clock, by,
                              words_for_time(time, resolution_hz))};
}

std::string Explained::words_for(std::uint64_t time) const {
  return words_for_time(time, run_->resolution_hz);
}

std::string Explained::words_for_edge(std::uint32_t edge) const {
  return fmt::format("{} at {} before {} at {}", names_[run_edges_.cause_clock[edge]],
                     words_for(run_edges_.cause_time[edge]), names_[run_edges_.effect_clock[edge]],
                     words_for(run_edges_.effect_time[edge]));
}

std::string Explained::contradiction() const {
  constexpr std::size_t k_shown = 2;  // a sentence that is not cut
  std::string text;
  for (std::size_t i = 0; i < std::min(k_shown, explanation_.certificate.size()); ++i) {
    const std::uint32_t number = explanation_.certificate[i];
    const std::size_t edges = run_edges_.cause_clock.size();
    if (!text.empty()) text += "; ";
    if (number < edges) {
      text += words_for_edge(number);
      continue;
    }
    const CollectiveInstance& one = run_edges_.instances[number - edges];
    text +=
        fmt::format("the {} of {} clocks at {}", name_of(one.kind), std::max(one.begins, one.ends),
                    words_for(run_edges_.members[one.first].time));
  }
  return text;
}

ClockExplanation Explained::words_for_step(const Step& step, std::uint32_t evidence,
                                           std::span<const ClockMap> maps) const {
  std::optional<std::int64_t> size;
  if (!maps.empty()) {
    const auto offset = [&](std::int64_t stamp) {
      return maps[step.clock](time_of(stamp)) - static_cast<std::int64_t>(time_of(stamp));
    };
    size = offset(step.before) - offset(step.after);
  }
  ClockExplanation told =
      told_step(names_[step.clock], time_of(step.after), size, run_->resolution_hz);
  told.evidence = evidence;
  return told;
}

void Explained::tell_pairs(Told& told) const {
  struct OfPair {
    std::uint64_t dropped = 0, all = 0;
    double bits = 0;
    std::uint32_t first = 0;
  };
  using Key = std::tuple<bool, std::uint32_t, std::uint32_t>;
  std::map<Key, OfPair> pairs;
  const auto key = [&](std::uint32_t e, bool is_weak) {
    const auto [low, high] = std::minmax(run_edges_.cause_clock[e], run_edges_.effect_clock[e]);
    return Key(is_weak, low, high);
  };
  const std::vector<std::uint32_t> out_of_order = edges_of(backward_);
  for (const std::uint32_t e : explanation_.edges) {
    if (std::ranges::binary_search(out_of_order, e)) continue;
    const bool is_weak = evidence_[e] == Evidence::weak;
    OfPair& own = pairs[key(e, is_weak)];
    if (own.dropped++ == 0) own.first = e;
    own.bits += price_of(evidence_[e]);
    ++(is_weak ? told.weak : told.wrong);
  }
  for (std::uint32_t e = 0; e < run_edges_.cause_clock.size() && !pairs.empty(); ++e) {
    for (const bool is_weak : {false, true}) {
      if (const auto own = pairs.find(key(e, is_weak)); own != pairs.end()) ++own->second.all;
    }
  }
  for (const auto& [of, own] : pairs) {
    const auto& [is_weak, low, high] = of;
    const auto& [dropped, all, bits, first] = own;
    told.is_much = told.is_much || (is_weak && is_much(dropped, all));
    const std::string &a = names_[low], &b = names_[high];
    told.all.push_back({.kind = is_weak ? ExplanationKind::weak : ExplanationKind::wrong_pairs,
                        .clocks = {a, b},
                        .time_ticks = run_edges_.effect_time[first],
                        .evidence = dropped,
                        .bits = bits,
                        .text = fmt::format(
                            "{} of {} pairs of records of {} and {} contradict the others whatever "
                            "clocks do, and move no clock; the first is {}",
                            dropped, all, a, b, words_for_edge(first))});
  }
  const std::size_t instances = explanation_.instances.size();
  if (instances == 0) return;
  double bits = 0;
  for (const std::uint32_t i : explanation_.instances) {
    bits += price_of(evidence_[run_edges_.cause_clock.size() + i]);
  }
  told.wrong += instances;
  told.all.push_back(
      {.kind = ExplanationKind::wrong_pairs,
       .evidence = instances,
       .bits = bits,
       .text = fmt::format("{} the others whatever clocks do, and {} no clock",
                           instances == 1 ? "1 collective contradicts"
                                          : fmt::format("{} collectives contradict", instances),
                           instances == 1 ? "moves" : "move")});
}

void Explained::tell_exchange(Told& told) const {
  const std::size_t edges = explanation_.edges.size();
  told.is_exchanged = true;
  told.wrong = edges;
  told.all.push_back(
      {.kind = ExplanationKind::exchanged,
       .evidence = edges,
       .bits = explanation_.bits,
       .text = fmt::format("causes and effects are exchanged, or records are wrong: as they "
                           "are, {} edges contradict each other ({}), the other way round {}",
                           edges, contradiction(),
                           explanation_.bits > Prices::exchanged ? "less" : "none")});
}

void Explained::tell_rates(Told& told) const {
  if (!explanation_.rate_ppb) return;
  const auto ppm = [](std::int64_t ppb) { return static_cast<double>(ppb) / 1e3; };
  std::vector<std::string> clocks;
  for (const std::uint32_t c : explanation_.fast) clocks.push_back(names_[c]);
  told.is_too_fast = *explanation_.rate_ppb > Prices::fastest_ppb;
  told.all.push_back(
      {.kind = ExplanationKind::fast_clocks,
       .clocks = clocks,
       .evidence = explanation_.certificate.size(),
       .bits = explanation_.bits,
       .text = fmt::format("{} run{} up to {:.9g} ppm fast or slow, beyond the {:.9g} ppm assumed",
                           clocks.empty() ? "clocks" : fmt::format("{}", fmt::join(clocks, ", ")),
                           clocks.size() == 1 ? "s" : "", ppm(*explanation_.rate_ppb),
                           ppm(assumed_ppb_))});
}

void Explained::tell_backward_steps(Told& told) const {
  for (const BackwardStep& step : backward_) {
    const std::string times =
        step.times == 1 ? "" : fmt::format(", the first of {} times", step.times);
    told.all.push_back(
        {.kind = ExplanationKind::weak,
         .clocks = {names_[step.clock]},
         .time_ticks = step.from,
         .evidence = step.edges.size(),
         .bits = Prices::step * static_cast<double>(step.times),
         .text = fmt::format("the clock of {0} was set back from {1} to {2}{3}; {4} of its {5} "
                             "edges, which are out of order by its times, move no clock",
                             names_[step.clock], words_for(step.from), words_for(step.to), times,
                             step.edges.size(), step.all)});
  }
  told.is_much = told.is_much || !backward_.empty();
  told.weak += edges_of(backward_).size();
}

Told Explained::told(std::span<const ClockMap> maps) const {
  Told told;
  if (explanation_.is_exchanged) {
    tell_exchange(told);
    return told;
  }
  for (std::size_t s = 0; s < explanation_.steps.size(); ++s) {
    told.all.push_back(words_for_step(explanation_.steps[s], explanation_.evidence[s], maps));
  }
  tell_rates(told);
  tell_backward_steps(told);
  // So many steps of a clock stand for a rate that is beyond all prices.
  std::map<std::uint32_t, std::uint64_t> steps;
  for (const Step& step : explanation_.steps) ++steps[step.clock];
  const std::size_t all = run_edges_.cause_clock.size() + run_edges_.members.size();
  told.is_too_fast |= std::ranges::any_of(
      steps, [&](const auto& of_clock) { return is_much(of_clock.second, all); });
  tell_pairs(told);
  return told;
}

}  // namespace entrain::explain
