// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/steps_of_work.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/order.hpp"
#include "carriers/centring.hpp"

namespace entrain::carriers {

namespace {

/// Work that a carrier has launched.
struct LaunchedWork {
  std::int64_t launch = 0;  ///< time of the carrier
  std::int64_t late = 0;    ///< ticks from its launch to its begin
};

/// Steps of a carrier, which may be those of its work alone.
class StepsOfWork {
 public:
  /// `host`: position of the carrier among all clocks. `steps`: its steps, in order of time.
  StepsOfWork(std::uint32_t host, const CarriedClocks& carried, const Edges& edges,
              std::vector<ClockExplanation*> steps)
      : steps_(std::move(steps)) {
    for (std::size_t e = 0; e < edges.cause_clock.size(); ++e) {
      const std::uint32_t effect = edges.effect_clock[e];
      if (edges.cause_clock[e] != host || carried.carrier[effect] != carried.carrier[host])
        continue;
      const auto launch = static_cast<std::int64_t>(edges.cause_time[e]);
      work_.push_back({launch, carried.inner[effect](edges.effect_time[e]) - launch});
    }
    std::ranges::stable_sort(work_, {}, &LaunchedWork::launch);
    std::int64_t ahead = 0, least = 0, most = 0;
    for (const ClockExplanation* step : steps_) {
      ahead += *step->size_ticks;
      least = std::min(least, ahead), most = std::max(most, ahead);
    }
    if (work_.empty()) return;
    std::vector<std::int64_t> late;
    for (const LaunchedWork& one : work_) late.push_back(one.late);
    margin_ = most - least + std::abs(median(std::move(late)));
  }

  /// Keeps the steps of the work: the shortest of some times from launch to work on either side
  /// differ by the step, and by more than such times do where no step is.
  const std::vector<ClockExplanation*>& find() {
    std::vector<ClockExplanation*> found;
    const std::int64_t noise = change_without_steps();
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      auto before = between(s), after = between(s + 1);
      if (before.empty() || after.empty()) continue;
      before = before.last(std::min<std::size_t>(k_near, before.size()));
      after = after.first(std::min<std::size_t>(k_near, after.size()));
      const std::int64_t change = std::ranges::min(after, {}, &LaunchedWork::late).late -
                                  std::ranges::min(before, {}, &LaunchedWork::late).late;
      const std::int64_t size = *steps_[s]->size_ticks;
      if (std::abs(change) > noise && k_close * std::abs(change - size) < std::abs(size)) {
        found.push_back(steps_[s]);
      }
    }
    return steps_ = std::move(found);
  }

  /// The time of the work by that of the carrier, which was not set: nothing begins before its
  /// launch. `map`: that of the work. Empty if steps would overlap.
  [[nodiscard]] std::optional<ClockMap> map_of_carrier(const StampRange& events,
                                                       const ClockMap& map) const {
    std::vector<std::int64_t> ahead{0};  // of the carrier, from each step on
    std::int64_t least = k_any;
    for (std::size_t s = 0; s <= steps_.size(); ++s) {
      for (const LaunchedWork& one : between(s)) least = std::min(least, one.late - ahead[s]);
      if (s < steps_.size()) ahead.push_back(ahead[s] + *steps_[s]->size_ticks);
    }
    if (least == k_any) return std::nullopt;
    std::vector<ClockKnot> knots{{events.first, ahead.front() + least}};
    const auto add = [&](std::uint64_t time, std::int64_t offset) {
      const std::uint64_t own = time - static_cast<std::uint64_t>(offset);
      const bool is_later = own > knots.back().local;
      if (is_later) knots.push_back({own, offset});
      return is_later;
    };
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const auto after =
          std::ranges::lower_bound(map.knots(), *steps_[s]->time_ticks, {}, &ClockKnot::local);
      if (after == map.knots().end() || after == map.knots().begin()) return std::nullopt;
      if (!add((after - 1)->local, ahead[s] + least)) return std::nullopt;
      if (!add(after->local, ahead[s + 1] + least)) return std::nullopt;
    }
    if (events.last > knots.back().local) knots.push_back({events.last, ahead.back() + least});
    const auto result = ClockMap::from_knots(std::move(knots));
    return result ? std::optional(*result) : std::nullopt;
  }

 private:
  static constexpr std::size_t k_near = 8;    ///< works of each side: one of so many did not wait
  static constexpr std::int64_t k_close = 4;  ///< the change is the step, up to 1 / this of it

  /// Four times the median change from the shortest time of k_near works to that of the next ones:
  /// queues of work are longer at times.
  [[nodiscard]] std::int64_t change_without_steps() const {
    std::vector<std::int64_t> shortest, changes;
    for (std::size_t w = 0; w + k_near <= work_.size(); w += k_near) {
      shortest.push_back(
          std::ranges::min(std::span(work_).subspan(w, k_near), {}, &LaunchedWork::late).late);
      if (shortest.size() > 1) {
        changes.push_back(std::abs(shortest.back() - shortest[shortest.size() - 2]));
      }
    }
    return changes.empty() ? 0 : 4 * median(std::move(changes));
  }

  [[nodiscard]] std::int64_t time_of(std::size_t step) const {
    return static_cast<std::int64_t>(*steps_[step]->time_ticks);
  }
  /// Work that was surely launched before a step, and after the one before that.
  [[nodiscard]] std::span<const LaunchedWork> between(std::size_t step) const {
    const std::int64_t from = step == 0 ? -k_any : time_of(step - 1) + margin_;
    const std::int64_t to = step == steps_.size() ? k_any : time_of(step) - margin_;
    const auto first = std::ranges::lower_bound(work_, from, {}, &LaunchedWork::launch);
    const auto last = std::ranges::lower_bound(work_, to, {}, &LaunchedWork::launch);
    return first < last ? std::span(first, last) : std::span<const LaunchedWork>();
  }

  std::vector<ClockExplanation*> steps_;
  std::vector<LaunchedWork> work_;
  std::int64_t margin_ = 0;  ///< uncertainty of the times of steps, which are those of the work
};

}  // namespace

void leave_steps_to_carried(CarriedClocks& carried, const Clocks& clocks, const Edges& edges,
                            std::span<const std::string> names, std::span<const ClockMap> maps,
                            std::vector<ClockExplanation>& told) {
  for (std::uint32_t c = 0; c < clocks.clocks.size(); ++c) {
    const std::uint32_t carrier = carried.carrier[c];
    const auto first = std::ranges::find(carried.carrier, carrier) - carried.carrier.begin();
    if (first != c || !clocks.clocks[c].events) continue;
    std::vector<ClockExplanation*> all;
    for (ClockExplanation& one : told) {
      const bool is_of_it =
          one.kind == ExplanationKind::step && one.clocks.front() == names[c] && one.size_ticks;
      if (is_of_it) all.push_back(&one);
    }
    if (all.empty()) continue;
    std::ranges::sort(all, {}, [](const ClockExplanation* one) { return *one->time_ticks; });
    StepsOfWork of_work(c, carried, edges, std::move(all));
    const std::vector<ClockExplanation*>& steps = of_work.find();
    if (steps.empty()) continue;
    const auto map = of_work.map_of_carrier(*clocks.clocks[c].events, maps[carrier]);
    if (!map) continue;
    carried.inner[c] = *map;
    std::vector<std::string> of_carried;
    for (std::uint32_t d = 0; d < clocks.clocks.size(); ++d) {
      if (d != c && carried.carrier[d] == carrier) of_carried.push_back(names[d]);
    }
    for (ClockExplanation* const step : steps) {
      const std::string before = fmt::format("the clock of {} ", step->clocks.front());
      step->clocks = of_carried;
      const char* const whose = of_carried.size() == 1 ? "the clock of" : "each clock of";
      step->text.replace(0, before.size(),
                         fmt::format("{} {} ", whose, fmt::join(of_carried, ", ")));
    }
  }
}

}  // namespace entrain::carriers
