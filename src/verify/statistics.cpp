// SPDX-License-Identifier: BSD-3-Clause
#include "verify/statistics.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "base/try.hpp"
#include "verify/tally.hpp"
#include "verify/times.hpp"

namespace entrain::verify {

namespace {

Result<void> require_same_events(const trace::Trace& before, const trace::Trace& after) {
  if (before.locations.size() != after.locations.size()) {
    return fail(
        ErrorKind::input,
        fmt::format("{} has {} locations but {} has {}: these are not the same trace", before.path,
                    before.locations.size(), after.path, after.locations.size()));
  }
  for (std::size_t l = 0; l < before.locations.size(); ++l) {
    const auto& a = before.locations[l].events;
    const auto& b = after.locations[l].events;
    const auto id = before.definitions.locations[l].id;
    if (a.size() != b.size()) {
      return fail(ErrorKind::input,
                  fmt::format("location {} has {} communication events in {} but {} in {}", id,
                              a.size(), before.path, b.size(), after.path));
    }
    for (std::size_t e = 0; e < a.size(); ++e) {
      if (a[e].kind == b[e].kind) continue;
      return fail(ErrorKind::input,
                  fmt::format("communication event {} of location {} is not the same in {} and {}",
                              e + 1, id, before.path, after.path));
    }
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

/// Adds up over locations.
class Collector {
 public:
  /// One location: an interval between every two distinct stamps.
  void add(std::span<const trace::Event> before, const ClockMap& before_map,
           std::span<const trace::Event> after, const ClockMap& after_map) {
    const std::vector<std::int64_t> c = corrected_times(before, before_map);
    const std::vector<std::int64_t> lc = corrected_times(after, after_map);
    Instant last;
    for (std::size_t e = 0; e < before.size(); ++e) {
      const Instant now{before[e].time, c[e], lc[e]};
      if (e > 0 && now.after < last.after) ++result_.order_broken;
      if (e > 0 && now.stamp == last.stamp) {
        last.after = std::max(last.after, now.after);
        continue;
      }
      add_event(now);
      if (e > 0) add_interval(last, now);
      last = now;
    }
  }

  CorrectionStatistics finish() && {
    result_.moved_events = sizes_.size();
    if (sizes_.empty()) return result_;
    double sum = 0;
    for (const std::int64_t size : sizes_) sum += static_cast<double>(size);
    result_.mean_ticks = sum / static_cast<double>(sizes_.size());
    // The smallest size that is not exceeded by 99 % of the moved events.
    const auto p99 = sizes_.begin() + static_cast<std::ptrdiff_t>((sizes_.size() * 99 - 1) / 100);
    std::nth_element(sizes_.begin(), p99, sizes_.end());
    result_.p99_ticks = *p99;
    result_.max_ticks = *std::max_element(p99, sizes_.end());
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
    if (moved < -1) ++result_.moved_backward;
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
    result_.intervals.max_share = std::max(result_.intervals.max_share,
                                           static_cast<double>(size) / static_cast<double>(length));
    if (now.stamp <= last.stamp) return;  // a damaged stream
    result_.max_slope =
        std::max(result_.max_slope,
                 static_cast<double>(change) / static_cast<double>(now.stamp - last.stamp));
  }

  CorrectionStatistics result_;
  std::vector<std::int64_t> sizes_;  ///< displacement of every moved event
};

}  // namespace

Result<CorrectionStatistics> correction_statistics(const trace::Trace& before,
                                                   std::span<const ClockMap> before_maps,
                                                   const trace::Trace& after,
                                                   std::span<const ClockMap> after_maps) {
  TRY(require_same_events(before, after));
  Collector collector;
  for (std::size_t l = 0; l < before.locations.size(); ++l) {
    collector.add(before.locations[l].events, before_maps[l], after.locations[l].events,
                  after_maps[l]);
  }
  return std::move(collector).finish();
}

}  // namespace entrain::verify
