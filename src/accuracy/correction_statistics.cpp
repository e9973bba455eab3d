// SPDX-License-Identifier: BSD-3-Clause
#include "accuracy/correction_statistics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "base/exact.hpp"
#include "base/try.hpp"
#include "trace/clock_maps.hpp"

namespace entrain::accuracy {

using trace::StreamTimes;

namespace {

Result<void> require_same_locations(const trace::Trace& before, const trace::Trace& after) {
  if (before.locations.size() == after.locations.size()) return {};
  return input_error("{} has {} locations but {} has {}: these are not the same trace", before.path,
                     before.locations.size(), after.path, after.locations.size());
}

Result<void> require_same_events(const trace::Trace& before, const trace::Trace& after,
                                 LocationIndex l) {
  const auto& a = before.locations[l].events;
  const auto& b = after.locations[l].events;
  if (&a == &b) return {};
  const auto id = before.definitions.locations[l].id;
  if (a.size() != b.size()) {
    return input_error("location {} has {} communication events in {} but {} in {}", id, a.size(),
                       before.path, b.size(), after.path);
  }
  for (std::size_t e = 0; e < a.size(); ++e) {
    if (a.kind(e) == b.kind(e)) continue;
    return input_error("communication event {} of location {} is not the same in {} and {}", e + 1,
                       id, before.path, after.path);
  }
  return {};
}

/// Index of the histogram bin of a change of `change` ticks in an interval of `length` > 0.
std::size_t bin_of(std::int64_t change, std::int64_t length) {
  if (change == 0) return 0;
  std::size_t bin = 1;
  for (const int divisor : {10'000, 1'000, 100, 10, 1}) {
    if (change <= length / divisor) return bin;  // same as change * divisor <= length
    ++bin;
  }
  return bin;
}

/// Sums over the locations of one member, then over the members.
class Collector {
 public:
  /// Events of a location, and the map from their stamps to times.
  struct Stream {
    const trace::EventList& events;
    const ClockMap& map;
    const ClockMap* start = nullptr;  ///< origin of backward moves if not `map`
  };

  /// Reserves memory for the displacements: growth would touch twice the memory.
  void reserve(std::size_t events) { sizes_.reserve(events); }

  /// Adds a location: its distinct stamps, and the intervals between them.
  void add(const Stream& before, const Stream& after) {
    StreamTimes c(before.map), lc(after.map);
    std::optional<StreamTimes> start;
    if (before.start != nullptr) start.emplace(*before.start);
    Instant last;
    for (std::size_t e = 0; e < before.events.size(); ++e) {
      const std::uint64_t stamp = before.events.time(e);
      const Instant now{.stamp = stamp, .before = c(stamp), .after = lc(after.events.time(e))};
      if (e > 0 && now.after < last.after) ++result_.order_broken;
      if (e > 0 && now.stamp == last.stamp) {
        last.after = std::max(last.after, now.after);
        continue;
      }
      add_event(now);
      // By more than the rounding of one tick.
      if (margin(now.after, start ? (*start)(stamp) : now.before) < -1) ++result_.moved_backward;
      if (e > 0) add_interval(last, now);
      last = now;
    }
  }

  CorrectionStatistics finish(Team& team) {
    result_.moved_events = sizes_.size();
    merge(team);
    if (result_.moved_events == 0) return result_;
    result_.mean_ticks =
        static_cast<double>(sum_of_sizes(team)) / static_cast<double>(result_.moved_events);
    std::int64_t largest = 0;
    for (const std::int64_t size : sizes_) largest = std::max(largest, size);
    result_.max_ticks = team.reduce(Team::Reduction::max, largest);
    // Smallest size that 99 % of the moved events do not exceed.
    result_.p99_ticks = size_of_rank(team, (result_.moved_events * 99 - 1) / 100);
    return result_;
  }

 private:
  struct Instant {
    std::uint64_t stamp = 0;  ///< stored before
    std::int64_t before = 0;  ///< C
    std::int64_t after = 0;   ///< LC''
  };

  void add_event(const Instant& now) {
    ++result_.compared_events;
    const std::int64_t moved = margin(now.after, now.before);
    if (moved != 0) {
      sizes_.push_back(moved > 0 ? moved : margin(0, moved));
    }
  }

  void add_interval(const Instant& last, const Instant& now) {
    const std::int64_t before = margin(now.before, last.before);
    const std::int64_t change = margin(margin(now.after, last.after), before);
    const std::int64_t size = change >= 0 ? change : margin(0, change);
    const std::int64_t length = std::max<std::int64_t>(before, 1);
    const std::size_t bin = bin_of(size, length);
    ++result_.intervals.histogram[bin];
    result_.intervals.histogram_ticks[bin] +=
        static_cast<std::uint64_t>(std::max<std::int64_t>(before, 0));
    if (size == 0) return;
    const auto share = [](std::int64_t part, auto whole) {
      return static_cast<double>(part) / static_cast<double>(whole);
    };
    result_.intervals.max_share = std::max(result_.intervals.max_share, share(size, length));
    if (now.stamp <= last.stamp || change < 0) return;  // a damaged stream; no slope that counts
    result_.max_slope = std::max(result_.max_slope, share(change, now.stamp - last.stamp));
  }

  void merge(Team& team) {
    CorrectionStatistics& r = result_;
    std::vector<std::uint64_t*> sums{&r.moved_events, &r.compared_events, &r.moved_backward,
                                     &r.order_broken};
    for (std::uint64_t& bin : r.intervals.histogram) sums.push_back(&bin);
    for (std::uint64_t& bin : r.intervals.histogram_ticks) sums.push_back(&bin);
    std::vector<std::int64_t> values;
    for (const std::uint64_t* sum : sums) values.push_back(static_cast<std::int64_t>(*sum));
    team.reduce(Team::Reduction::sum, values);
    for (std::size_t i = 0; i < sums.size(); ++i) *sums[i] = static_cast<std::uint64_t>(values[i]);
    // Doubles that are not negative have the same order as their bits.
    for (double* largest : {&r.intervals.max_share, &r.max_slope}) {
      const auto bits = std::bit_cast<std::int64_t>(std::max(*largest, 0.0));
      *largest = std::bit_cast<double>(team.reduce(Team::Reduction::max, bits));
    }
  }

  /// Exact sum, so that it does not depend on the partition.
  [[nodiscard]] Int128 sum_of_sizes(Team& team) const {
    Int128 sum = 0;
    for (const std::int64_t size : sizes_) sum += size;
    constexpr int k_bits = 48;  // leaves room for the sum over the members
    std::array<std::int64_t, 3> digits{};
    for (std::int64_t& digit : digits) {
      digit = static_cast<std::int64_t>(sum & ((Int128{1} << k_bits) - 1));
      sum >>= k_bits;
    }
    team.reduce(Team::Reduction::sum, digits);
    return digits[0] + (Int128{digits[1]} << k_bits) + (Int128{digits[2]} << (2 * k_bits));
  }

  /// Size with `rank` smaller ones before it among the sizes of all members: radix selection, 11
  /// bits at a time, from the highest bits of `max_ticks` on.
  std::int64_t size_of_rank(Team& team, std::uint64_t rank) {
    constexpr int k_bits = 11;
    constexpr std::size_t k_digits = std::size_t{1} << k_bits;
    std::uint64_t found = 0;  // the digits known so far
    for (int shift = 66 - k_bits; shift >= 0; shift -= k_bits) {
      if (static_cast<std::uint64_t>(result_.max_ticks) >> shift == 0 && shift > 0) continue;
      const auto is_candidate = [&](std::uint64_t size) {
        return shift + k_bits >= 64 || size >> (shift + k_bits) == found;
      };
      std::vector<std::int64_t> counts(k_digits, 0);
      for (const std::int64_t size : sizes_) {
        const auto bits = static_cast<std::uint64_t>(size);
        if (is_candidate(bits)) ++counts[bits >> shift & (k_digits - 1)];
      }
      team.reduce(Team::Reduction::sum, counts);
      std::size_t digit = 0;
      while (digit + 1 < k_digits && rank >= static_cast<std::uint64_t>(counts[digit])) {
        rank -= static_cast<std::uint64_t>(counts[digit++]);
      }
      found = found << k_bits | digit;
    }
    return static_cast<std::int64_t>(found);
  }

  CorrectionStatistics result_;
  BigVector<std::int64_t> sizes_;  ///< displacement of every moved event
};

}  // namespace

Result<CorrectionStatistics> correction_statistics(Team& team, const trace::Partition& partition,
                                                   const TimedTrace& before,
                                                   const TimedTrace& after, const Cancel& cancel,
                                                   std::span<const ClockMap> start) {
  TRY(require_same_locations(before.trace, after.trace));  // the same outcome at every member
  Collector collector;
  Result<void> result;
  const std::size_t count = before.trace.locations.size();
  auto differs = static_cast<std::int64_t>(count);
  std::size_t events = 0;
  const std::vector<LocationIndex> own = trace::locations_of(partition, team.rank());
  for (const LocationIndex l : own) events += before.trace.locations[l].events.size();
  collector.reserve(events);
  for (const LocationIndex l : own) {
    result = require_same_events(before.trace, after.trace, l);
    if (!result) {
      differs = l;
      break;
    }
    result = cancel.check();
    if (!result) break;
    collector.add({.events = before.trace.locations[l].events,
                   .map = before.maps[l],
                   .start = start.empty() ? nullptr : &start[l]},
                  {.events = after.trace.locations[l].events, .map = after.maps[l]});
  }
  // The error names the first differing location, whichever member found it.
  const std::int64_t first = team.reduce(Team::Reduction::min, differs);
  if (!result && differs != first && first < static_cast<std::int64_t>(count)) result = {};
  TRY(team.agree(std::move(result)));
  return collector.finish(team);
}

}  // namespace entrain::accuracy
