// SPDX-License-Identifier: BSD-3-Clause
#include "waits/judge.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/exact.hpp"
#include "bounds/possible_times.hpp"

namespace entrain::waits {

namespace {

constexpr std::int64_t k_least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t k_most = std::numeric_limits<std::int64_t>::max();

/// The begin of a call.
struct Arrival {
  std::uint32_t process = 0, clock = 0;
  bool gives = false, takes = false;
  std::int64_t time = 0;                             ///< corrected
  std::int64_t earliest = k_least, latest = k_most;  ///< possible times; these: not bounded
  std::int64_t end = 0;                              ///< corrected time of the end of the call
};

class Judge {
 public:
  explicit Judge(const Material& material)
      : material_(material), definitions_(material.share.trace.definitions) {
    report_.archive = material.share.trace.path;
    report_.resolution_hz = definitions_.clock.resolution_hz;
    report_.operations = material.collectives.operations;
    report_.groups = material.collectives.groups;
    report_.left_out = material.collectives.left_out;
    for (LocationIndex l = 0; l < definitions_.process_of.size(); ++l) {
      const std::uint32_t process = definitions_.process_of[l];
      if (process >= report_.processes.size()) report_.processes.resize(process + 1);
      if (report_.processes[process].empty()) {
        report_.processes[process] = trace::process_name(definitions_, l);
      }
    }
    rows_.resize(report_.processes.size());
    if (material.proven == nullptr) return;
    report_.reason = material.proven->about.reason;
    if (!report_.reason.empty() || material.proven->reference == k_none) return;
    reference_ = bounds::shared_map(material.share, material.proven->reference, material.maps);
    possible_.emplace(*material.proven, reference_);
  }

  StragglerReport run() {
    constexpr std::size_t k_calls_at_once = std::size_t{1} << 14;
    const BigVector<trace::CollectiveOperation>& all = material_.collectives.all;
    for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
      std::vector<Arrival> some;
      for (; end < all.size() && some.size() < k_calls_at_once; ++end) {
        for (std::uint32_t m = 0; m < all[end].members; ++m) {
          some.push_back(arrival_of(material_.collectives.calls[all[end].first + m]));
        }
      }
      share_times(some);
      auto next = some.begin();
      for (std::size_t c = begin; c < end; ++c) {
        arrivals_.assign(next, next + all[c].members);
        next += all[c].members;
        add(all[c]);
      }
    }
    std::ranges::stable_sort(report_.collectives, {}, &CollectiveWait::time_ticks);
    report_.by_group =
        sums_by([](const CollectiveWait& one) { return std::optional<std::uint64_t>(one.group); });
    std::ranges::stable_sort(report_.by_group, std::greater(), &WaitSum::wait_ticks);
    report_.by_step = sums_by([](const CollectiveWait& one) { return one.step; });
    rank();
    return std::move(report_);
  }

 private:
  [[nodiscard]] Arrival arrival_of(const trace::CollectiveCall& call) const {
    const LocationIndex l = call.location;
    Arrival arrival{
        .process = definitions_.process_of[l], .gives = call.gives, .takes = call.takes};
    if (possible_) arrival.clock = material_.proven->clock_of[l];
    if (!material_.share.owns(l)) {  // see share_times()
      arrival.earliest = arrival.latest = 0;
      return arrival;
    }
    arrival.time = material_.maps[l](call.begin);
    arrival.end = material_.maps[l](call.end);
    if (!possible_) return arrival;
    const bounds::Interval errors = possible_->errors(l, call.begin, call.begin);
    if (!errors.bounded()) return arrival;
    const bounds::TickRange times = possible_->at(l, call.begin, errors);
    arrival.earliest = times.least;
    arrival.latest = times.most;
    return arrival;
  }

  /// Fills the times that other processes know: here they are 0.
  void share_times(std::vector<Arrival>& arrivals) const {
    if (material_.share.team.size() == 1) return;
    std::vector<std::int64_t> times;
    for (const Arrival& one : arrivals) {
      times.insert(times.end(), {one.time, one.earliest, one.latest, one.end});
    }
    material_.share.team.reduce(Team::Reduction::sum, times);
    auto next = times.begin();
    for (Arrival& one : arrivals) {
      for (std::int64_t* time : {&one.time, &one.earliest, &one.latest, &one.end}) *time = *next++;
    }
  }

  /// By how much `a` came after `b` at least; k_least: nobody knows.
  [[nodiscard]] std::int64_t lead(const Arrival& a, const Arrival& b) const {
    if (!possible_) return k_least;
    if (a.clock == b.clock) return margin(a.time, b.time);
    return a.earliest == k_least || b.latest == k_most ? k_least : margin(a.earliest, b.latest);
  }

  /// Judges a collective, whose arrivals are known.
  void add(const trace::CollectiveOperation& collective) {
    // A root that takes alone gives as well, but nobody waits for it.
    const auto takes = std::ranges::count_if(arrivals_, &Arrival::takes);
    const bool is_rooted = takes == 1 && arrivals_.size() > 1;
    for (Arrival& one : arrivals_) one.gives &= !is_rooted || !one.takes;
    const Arrival* last = nullptr;
    for (const Arrival& one : arrivals_) {
      if (one.gives && (last == nullptr || one.time > last->time)) last = &one;
      if (one.gives) ++rows_[one.process].collectives;
    }
    if (last == nullptr) return;  // nobody waits
    CollectiveWait wait{.operation = collective.operation,
                        .group = collective.group,
                        .members = collective.members,
                        .step = collective.step,
                        .last = last->process,
                        .time_ticks = last->time};
    measure(*last, wait);
    wait.known =
        collective.members < collective.expected ? LastArrival::incomplete : find_out(*last, wait);
    count(wait);
    report_.collectives.push_back(wait);
  }

  /// Waits by corrected times.
  void measure(const Arrival& last, CollectiveWait& wait) const {
    std::int64_t before = k_least;
    for (const Arrival& one : arrivals_) {
      if (&one == &last) continue;
      before = std::max(before, one.time);
      const std::int64_t waited =
          one.takes ? std::max<std::int64_t>(margin(last.time, one.time), 0) : 0;
      wait.wait_ticks = clamped_sum(wait.wait_ticks, waited);
      wait.longest_ticks = std::max(wait.longest_ticks, waited);
    }
    if (wait.wait_ticks > 0)
      wait.alone_ticks = std::max<std::int64_t>(margin(last.time, before), 0);
  }

  /// Finds what is known of `last`.
  LastArrival find_out(const Arrival& last, CollectiveWait& wait) {
    std::int64_t after_givers = k_most, after_takers = k_least;
    bool somebody_waits = false, is_left = false;
    for (const Arrival& one : arrivals_) {
      if (&one == &last) continue;
      if (one.gives) after_givers = std::min(after_givers, lead(last, one));
      if (!one.takes) continue;
      after_takers = std::max(after_takers, lead(last, one));
      somebody_waits |= lead(one, last) < 0;  // as far as is known
      is_left |= one.end < last.time;
    }
    if (!somebody_waits) return LastArrival::nobody;
    const std::int64_t certain = std::min(after_givers, after_takers);
    if (possible_ && is_left) {
      ++report_.contradicting;
      return LastArrival::unproven;
    }
    if (certain == k_least) return LastArrival::unproven;
    wait.certain_ticks = certain;
    return certain > 0 ? LastArrival::proven : LastArrival::tie;
  }

  void count(const CollectiveWait& wait) {
    StragglerRow& row = rows_[wait.last];
    switch (wait.known) {
      case LastArrival::proven:
        ++report_.proven;
        ++row.last;
        row.wait_ticks = clamped_sum(row.wait_ticks, wait.wait_ticks);
        row.alone_ticks = clamped_sum(row.alone_ticks, wait.alone_ticks);
        row.longest_ticks = std::max(row.longest_ticks, wait.longest_ticks);
        report_.wait_ticks = clamped_sum(report_.wait_ticks, wait.wait_ticks);
        return;
      case LastArrival::tie:
        ++report_.ties;
        count_tied();
        break;
      case LastArrival::unproven:
        ++report_.unproven;
        break;
      case LastArrival::nobody:
        ++report_.nobody;
        return;
      case LastArrival::incomplete:
        ++report_.incomplete;
        return;
    }
    ++row.likely;
    row.likely_ticks = clamped_sum(row.likely_ticks, wait.wait_ticks);
  }

  /// Counts a tie for those who give and may have been last.
  void count_tied() {
    std::int64_t latest = k_least;
    for (const Arrival& one : arrivals_) {
      if (one.gives) latest = std::max(latest, one.earliest);
    }
    for (const Arrival& one : arrivals_) {
      if (one.gives && one.latest >= latest) ++rows_[one.process].ties;
    }
  }

  /// Sums of the collectives of each number, in order of these; not of those without. O(n log n).
  template <class NumberOf>
  std::vector<WaitSum> sums_by(NumberOf number_of) const {
    const std::vector<CollectiveWait>& all = report_.collectives;
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (number_of(all[i])) order.push_back(i);
    }
    std::ranges::stable_sort(
        order, {}, [&](std::uint32_t i) { return std::pair(number_of(all[i]), all[i].last); });
    std::vector<WaitSum> sums;
    std::uint32_t last = 0;
    std::int64_t of_last = 0;
    for (const std::uint32_t i : order) {
      const CollectiveWait& one = all[i];
      const std::uint64_t number = *number_of(one);
      const bool is_new = sums.empty() || sums.back().number != number;
      if (is_new) sums.push_back({.number = number});
      if (is_new || one.last != last) of_last = 0;
      last = one.last;
      WaitSum& sum = sums.back();
      ++sum.collectives;
      sum.ties += one.known == LastArrival::tie ? 1 : 0;
      if (one.known != LastArrival::proven) continue;
      ++sum.proven;
      sum.wait_ticks = clamped_sum(sum.wait_ticks, one.wait_ticks);
      of_last = clamped_sum(of_last, one.wait_ticks);
      if (of_last <= sum.worst_ticks) continue;
      sum.worst = last;
      sum.worst_ticks = of_last;
    }
    return sums;
  }

  /// Puts those that caused most waits first, and finds how many of them stand out: those with more
  /// than the mean, if all waits are so uneven that more than half of what is possible would have
  /// to be shifted for all to cause the same (the Hoover index, over its largest value). Waits that
  /// are not proved count as everybody's.
  void rank() {
    for (std::uint32_t p = 0; p < rows_.size(); ++p) {
      rows_[p].process = p;
      if (rows_[p].collectives > 0) report_.rows.push_back(rows_[p]);
    }
    std::ranges::stable_sort(report_.rows, [](const StragglerRow& a, const StragglerRow& b) {
      if (a.wait_ticks != b.wait_ticks) return a.wait_ticks > b.wait_ticks;
      return a.likely_ticks > b.likely_ticks;
    });
    auto all = static_cast<double>(report_.wait_ticks);
    for (const StragglerRow& row : report_.rows) all += static_cast<double>(row.likely_ticks);
    const auto ranks = static_cast<double>(report_.rows.size());
    if (ranks < 2 || report_.wait_ticks <= 0) return;
    double uneven = 0;
    std::size_t above = 0;
    for (const StragglerRow& row : report_.rows) {
      const double more = static_cast<double>(row.wait_ticks) / all - 1 / ranks;
      if (more <= 0) break;
      uneven += more;
      ++above;
    }
    if (uneven > (1 - 1 / ranks) / 2) report_.outstanding = above;
  }

  const Material& material_;
  const trace::Definitions& definitions_;
  ClockMap reference_;                             ///< map of the clock that gives the time
  std::optional<bounds::PossibleTimes> possible_;  ///< none: nothing bounds the clocks
  std::vector<StragglerRow> rows_;                 ///< one per process
  std::vector<Arrival> arrivals_;                  ///< those of a collective
  StragglerReport report_;
};

}  // namespace

StragglerReport judge(const Material& material) { return Judge(material).run(); }

}  // namespace entrain::waits
