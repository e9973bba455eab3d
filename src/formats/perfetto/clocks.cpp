// SPDX-License-Identifier: BSD-3-Clause
#include "formats/perfetto/clocks.hpp"

#include <algorithm>

namespace entrain::perfetto {
namespace {

// Times of a damaged file may be anything: sums wrap.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t in_ns(std::int64_t value, std::int64_t unit) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) *
                                   static_cast<std::uint64_t>(unit));
}

/// The nearest whole number of units; unit > 0.
std::int64_t in_units(std::int64_t ns, std::int64_t unit) {
  if (unit == 1) return ns;
  const std::int64_t whole = ns / unit, rest = ns % unit;
  if (rest >= unit - unit / 2) return whole + 1;
  return rest <= -(unit - unit / 2) ? whole - 1 : whole;
}

}  // namespace

ClockKey clock_key(std::uint32_t machine, std::uint32_t sequence, std::uint32_t id) {
  const bool is_of_sequence = id >= k_first_sequence_clock && id <= k_last_sequence_clock;
  return {machine, is_of_sequence ? sequence : 0, id};
}

std::int64_t Clocks::Clock::to_trace(std::int64_t ns) const {
  if (readings.empty()) return ns;
  auto at = readings.end() - 1;  // nearly always
  if (ns < at->first) {
    at = std::upper_bound(readings.begin(), readings.end(), ns,
                          [](std::int64_t time, const auto& one) { return time < one.first; });
    if (at != readings.begin()) --at;
  }
  return sum(ns, difference(at->second, at->first));
}

std::int64_t Clocks::Clock::from_trace(std::int64_t time) const {
  if (readings.empty()) return time;
  // A clock that was set leaves out times, and shows others twice: the latest reading counts.
  for (std::size_t r = readings.size(); r-- > 0;) {
    const std::int64_t ns = difference(time, difference(readings[r].second, readings[r].first));
    if (ns < readings[r].first && r > 0) continue;
    const bool is_last = r + 1 == readings.size();
    return is_last ? ns : std::min(ns, difference(readings[r + 1].first, 1));
  }
  return time;
}

Clocks::Clock* Clocks::find(const ClockKey& key) const {
  const std::uint32_t* const number = numbers_.find(key);
  return number != nullptr ? &clocks_[*number] : nullptr;
}

std::optional<std::int64_t> Clocks::told_time(std::uint32_t machine, std::uint32_t sequence,
                                              std::span<const Reading> readings) const {
  for (const Reading& one : readings) {
    if (one.clock == primary_) return one.value;
  }
  for (const Reading& one : readings) {
    const Clock* const clock = find(clock_key(machine, sequence, one.clock));
    if (clock == nullptr || clock->readings.empty()) continue;
    return clock->to_trace(in_ns(one.value, one.unit));
  }
  return std::nullopt;
}

std::int64_t Clocks::time_of(std::uint32_t machine, std::uint32_t sequence,
                             std::span<const Reading> readings) const {
  const auto first = readings.empty() ? 0 : in_ns(readings[0].value, readings[0].unit);
  return told_time(machine, sequence, readings).value_or(first);
}

void Clocks::add(std::uint32_t machine, std::uint32_t sequence, std::span<const Reading> readings) {
  const auto time = told_time(machine, sequence, readings);
  for (const Reading& one : readings) {
    if (one.clock == primary_) continue;
    const ClockKey key = clock_key(machine, sequence, one.clock);
    const auto [number, is_new] = numbers_.insert(key, static_cast<std::uint32_t>(clocks_.size()));
    if (is_new) clocks_.emplace_back();
    size_ += is_new ? 1 : 0;
    Clock& clock = clocks_[*number];
    clock.unit = one.unit;
    clock.is_incremental = one.is_incremental;
    clock.last = in_ns(one.value, one.unit);
    if (!time) continue;
    auto& known = clock.readings;
    if (!known.empty() && clock.last < known.back().first) {  // it was set back
      size_ -= known.size();
      known.clear();
    }
    const bool tells_nothing =
        !known.empty() &&
        difference(known.back().second, known.back().first) == difference(*time, clock.last);
    if (tells_nothing) continue;
    known.emplace_back(clock.last, *time);
    ++size_;
  }
}

std::int64_t Clocks::to_trace(const ClockKey& key, std::int64_t value) {
  if (key.id == primary_) return value;
  Clock* const clock = find(key);
  if (clock == nullptr) return value;
  largest_unit_ = std::max(largest_unit_, clock->unit);
  const std::int64_t ns = in_ns(value, clock->unit);
  if (!clock->is_incremental) return clock->to_trace(ns);
  clock->last = sum(clock->last, ns);
  return clock->to_trace(clock->last);
}

std::int64_t Clocks::from_trace(const ClockKey& key, std::int64_t time) {
  if (key.id == primary_) return time;
  Clock* const clock = find(key);
  if (clock == nullptr) return time;
  const std::int64_t ns = clock->from_trace(time);
  if (!clock->is_incremental) return in_units(ns, clock->unit);
  const std::int64_t delta = in_units(difference(ns, clock->last), clock->unit);
  clock->last = sum(clock->last, in_ns(delta, clock->unit));
  return delta;
}

}  // namespace entrain::perfetto
