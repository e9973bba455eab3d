// SPDX-License-Identifier: BSD-3-Clause
#include "explain/step_place.hpp"

#include <optional>

namespace entrain::explain {

namespace {

/// Slack of an event's edges at a common time, ticks; negative if it violates one.
Int128 slack_of(const BoundedEvent& event, std::int64_t time) {
  const Int128 beyond = event.limit - time;
  return event.role == BoundedEvent::Role::cause ? beyond : -beyond;
}

/// By how much the slack of an event grows if it goes from one side of a step to the other; nothing
/// if it cannot.
std::optional<Int128> growth(const BoundedEvent& event, const ClockMap& from, const ClockMap& to) {
  if (event.role == BoundedEvent::Role::fixed) return std::nullopt;
  const Int128 slack = slack_of(event, to(event.stamp));
  if (slack < 0) return std::nullopt;
  return slack - slack_of(event, from(event.stamp));
}

}  // namespace

std::size_t place_step(std::span<const BoundedEvent> events, std::size_t known,
                       const ClockMap& before, const ClockMap& after) {
  std::size_t best = known;
  Int128 least = 0;
  const auto consider = [&](std::size_t place, Int128 grown) {
    const std::uint64_t last = events[place - 1].stamp, first = events[place].stamp;
    if (grown >= least || last == first || before(last) > after(first)) return;
    best = place, least = grown;
  };
  Int128 grown = 0;
  for (std::size_t place = known; place + 1 < events.size(); ++place) {
    const auto by = growth(events[place], after, before);
    if (!by) break;
    consider(place + 1, grown += *by);
  }
  grown = 0;
  for (std::size_t place = known; place > 1; --place) {
    const auto by = growth(events[place - 1], before, after);
    if (!by) break;
    consider(place - 1, grown += *by);
  }
  return best;
}

}  // namespace entrain::explain
