// SPDX-License-Identifier: BSD-3-Clause
#include "accuracy/comparison.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/exact.hpp"
#include "base/executor.hpp"
#include "base/try.hpp"

namespace entrain::accuracy {

namespace {

/// Numbers of `most` of `count` things, the first and the last among them.
std::vector<std::size_t> spread(std::size_t count, std::uint64_t most) {
  std::vector<std::size_t> picked;
  const std::uint64_t wanted = std::min<std::uint64_t>(count, most);
  for (std::uint64_t i = 0; i < wanted; ++i) {
    const Int128 at = wanted > 1 ? Int128{count - 1} * i / (wanted - 1) : Int128{0};
    picked.push_back(static_cast<std::size_t>(at));
  }
  return picked;
}

/// The positions of events in order of time; empty where they stand in it already.
std::vector<std::size_t> order_of(const std::vector<std::int64_t>& times) {
  std::vector<std::size_t> order;
  if (std::ranges::is_sorted(times)) return order;
  order.resize(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
  return order;
}

/// A run of compare().
class Comparison {
 public:
  Comparison(const Compared& traces, const CompareOptions& options)
      : traces_(traces), options_(options) {}

  Result<CompareReport> run() {
    std::optional<TruthFit> fit;
    if (has_truth()) {
      const TruthFit empty(traces_.begin, traces_.end);
      TRY_ASSIGN(fit, merged<TruthFit>([&] { return empty; }, nullptr));
    }
    CompareReport report;
    const auto make = [&] { return fit ? DifferenceSums(*fit) : DifferenceSums(); };
    TRY_ASSIGN(const DifferenceSums sums, merged<DifferenceSums>(make, &report));
    sums.fill(report, traces_.resolution_hz);
    report.a = traces_.a;
    report.b = traces_.b;
    report.truth = traces_.truth;
    report.span_source = traces_.span_source;
    if (options_.events_per_location > 0) {
      TRY_ASSIGN(report.events, pick_events(make()));
    }
    return report;
  }

 private:
  [[nodiscard]] bool has_truth() const { return !traces_.truth.empty(); }
  [[nodiscard]] double tick_s() const {
    return 1 / static_cast<double>(std::max<std::uint64_t>(traces_.resolution_hz, 1));
  }

  /// The errors of an event; `sums` knows what is removed from them.
  void set_errors(const DifferenceSums& sums, const LocationTimes& of, std::size_t i,
                  ComparedEvent& event) const {
    event.a_error_s = event.b_error_s = std::numeric_limits<double>::quiet_NaN();
    if (!has_truth()) return;
    event.a_error_s = sums.error_of(k_a, of.a[i], of.truth[i]) * tick_s();
    event.b_error_s = sums.error_of(k_b, of.b[i], of.truth[i]) * tick_s();
    event.a_common_s = sums.common_of(k_a, of.truth[i]) * tick_s();
    event.b_common_s = sums.common_of(k_b, of.truth[i]) * tick_s();
  }

  Result<std::vector<ComparedEvent>> pick_events(const DifferenceSums& sums) const {
    const std::size_t count = traces_.locations.size();
    std::vector<std::vector<ComparedEvent>> picked(count);
    std::vector<std::vector<std::int64_t>> when(count);
    TRY(parallel_for(options_.threads, count, [&](std::size_t l) -> Result<void> {
      TRY_ASSIGN(const LocationTimes of, traces_.times(static_cast<LocationIndex>(l)));
      const std::vector<std::int64_t>& times = has_truth() ? of.truth : of.a;
      const std::vector<std::size_t> order = order_of(times);
      for (const std::size_t place : spread(of.a.size(), options_.events_per_location)) {
        const std::size_t i = order.empty() ? place : order[place];
        ComparedEvent event;
        event.location = traces_.locations[l].id;
        event.difference_s = static_cast<double>(of.b[i] - of.a[i]) * tick_s();
        set_errors(sums, of, i, event);
        picked[l].push_back(event);
        when[l].push_back(times[i]);
      }
      return {};
    }));
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const auto& times : when) {
      if (!times.empty()) first = std::min(first, times.front());
    }
    std::vector<ComparedEvent> all;
    for (std::size_t l = 0; l < count; ++l) {
      for (std::size_t i = 0; i < picked[l].size(); ++i) {
        picked[l][i].time_s = static_cast<double>(when[l][i] - first) * tick_s();
        all.push_back(picked[l][i]);
      }
    }
    return all;
  }

  /// Feeds every location into a fresh accumulator and merges them in order of the locations.
  template <class Sums, class Make>
  Result<Sums> merged(Make make, CompareReport* report) {
    const std::size_t count = traces_.locations.size();
    Sums total = make();
    std::mutex mutex;
    std::size_t next = 0;
    std::vector<std::optional<Sums>> waiting(count);
    if (report != nullptr) report->locations.resize(count);
    TRY(parallel_for(options_.threads, count, [&](std::size_t i) -> Result<void> {
      Sums sums = make();
      TRY_ASSIGN(const LocationTimes of, traces_.times(static_cast<LocationIndex>(i)));
      sums.add(of);
      if constexpr (std::is_same_v<Sums, DifferenceSums>) {
        const Compared::Location& location = traces_.locations[i];
        report->locations[i] = {location.id, sums.difference(traces_.resolution_hz), location.name};
      }
      const std::lock_guard lock(mutex);
      waiting[i] = std::move(sums);
      for (; next < count && waiting[next]; ++next) {
        total.merge(*waiting[next]);
        waiting[next].reset();
      }
      return {};
    }));
    return total;
  }

  const Compared& traces_;
  const CompareOptions& options_;
};

}  // namespace

Result<CompareReport> compare(const Compared& traces, const CompareOptions& options) {
  return Comparison(traces, options).run();
}

}  // namespace entrain::accuracy
