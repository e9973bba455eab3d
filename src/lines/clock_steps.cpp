// SPDX-License-Identifier: BSD-3-Clause
#include "lines/clock_steps.hpp"

#include <algorithm>
#include <optional>

namespace entrain::lines {
namespace {

/// Two wall clocks part by at most a tick in this many, each slewed by 500 ppm.
constexpr std::int64_t k_ticks_per_drift = 1000;

/// Offsets that a stretch of limits allows at the time of its latest limit.
class StepCorridor {
 public:
  explicit StepCorridor(std::int64_t tolerance) : tolerance_(tolerance) {}

  /// False if no clock can meet this limit and those before.
  bool take(const OffsetLimit& limit) {
    fade_to(limit.time);
    std::optional<std::int64_t>& own = limit.upper ? high_ : low_;
    if (!own) {
      own = limit.offset;
    } else {
      own = limit.upper ? std::min(*own, limit.offset) : std::max(*own, limit.offset);
    }
    return !low_ || !high_ || *low_ - *high_ <= tolerance_;
  }

 private:
  void fade_to(std::uint64_t time) {
    const std::int64_t gone =
        static_cast<std::int64_t>(time > time_ ? time - time_ : time_ - time) / k_ticks_per_drift;
    if (low_) *low_ -= gone;
    if (high_) *high_ += gone;
    time_ = time;
  }

  std::int64_t tolerance_;
  std::uint64_t time_ = 0;
  std::optional<std::int64_t> low_, high_;
};

/// The first position, from `first` on, up to which no clock can meet all limits; their number if
/// there is none.
std::size_t first_contradiction(std::span<const OffsetLimit> limits, std::size_t first,
                                std::int64_t tolerance) {
  StepCorridor corridor(tolerance);
  while (first < limits.size() && corridor.take(limits[first])) ++first;
  return first;
}

/// The last position from which on no clock can meet all limits up to `last`.
std::size_t last_contradiction(std::span<const OffsetLimit> limits, std::size_t first,
                               std::size_t last, std::int64_t tolerance) {
  StepCorridor corridor(tolerance);
  std::size_t at = last;
  while (corridor.take(limits[at]) && at > first) --at;
  return at;
}

/// Returns the position after the longest gap among the positions from `from` to `last`.
std::size_t likeliest_step(std::span<const OffsetLimit> limits, std::size_t from,
                           std::size_t last) {
  const auto gap = [&](std::size_t at) { return limits[at].time - limits[at - 1].time; };
  std::size_t longest = last;
  for (std::size_t at = from; at < last; ++at) {
    if (gap(at) > gap(longest)) longest = at;
  }
  return longest;
}

}  // namespace

ClockSteps find_steps(std::span<const OffsetLimit> limits, std::int64_t tolerance) {
  ClockSteps steps;
  std::size_t first = 0;
  while (true) {
    const std::size_t last = first_contradiction(limits, first, tolerance);
    if (last >= limits.size()) return steps;
    if (steps.starts.size() == k_most_steps) return {.starts = {}, .back = steps.back};
    steps.back = steps.back || !limits[last].upper;
    first = likeliest_step(limits, last_contradiction(limits, first, last, tolerance) + 1, last);
    steps.starts.push_back(first);
  }
}

}  // namespace entrain::lines
