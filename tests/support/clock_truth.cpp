// SPDX-License-Identifier: BSD-3-Clause
#include "support/clock_truth.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/core.h>

#include "base/try.hpp"
#include "clocks/presync.hpp"
#include "formats/otf2/load.hpp"
#include "formats/otf2/read/archive.hpp"

namespace entrain::test {
namespace {

class Collector {
 public:
  explicit Collector(double us_per_tick) : us_per_tick_(us_per_tick) {}

  void add(double error_ticks, const std::optional<double>& bound, bool inside) {
    const double error = std::abs(error_ticks) * us_per_tick_;
    if (bound) {
      ++result_.bounded;
      if (error > *bound * us_per_tick_) ++result_.beyond;
    }
    if (!inside) return;
    errors_.push_back(error);
    squares_ += error * error;
    if (!bound) all_bounded_ = false;
    largest_bound_ = std::max(largest_bound_, bound.value_or(0) * us_per_tick_);
  }

  ClockErrors take() {
    result_.events = errors_.size();
    if (errors_.empty()) return result_;
    std::sort(errors_.begin(), errors_.end());
    result_.rms_us = std::sqrt(squares_ / static_cast<double>(errors_.size()));
    result_.p99_us = errors_[(errors_.size() - 1) * 99 / 100];
    result_.max_us = errors_.back();
    if (all_bounded_) result_.bound_us = largest_bound_;
    return result_;
  }

 private:
  double us_per_tick_;
  std::vector<double> errors_;
  double squares_ = 0, largest_bound_ = 0;
  bool all_bounded_ = true;
  ClockErrors result_;
};

}  // namespace

Result<ClockErrors> clock_errors(const std::filesystem::path& trace,
                                 const std::filesystem::path& truth,
                                 const ClockErrorOptions& options) {
  TRY_ASSIGN(trace::LoadedTrace loaded, otf2::load(trace, 1, nullptr));
  TRY_ASSIGN(const trace::LoadedTrace real, otf2::load(truth, 1, nullptr));
  if (options.ends_only) {
    for (auto& location : loaded.trace.locations) {
      auto& records = location.clock_offsets;
      if (records.size() > 2) records.erase(records.begin() + 1, records.end() - 1);
    }
  }
  CheckOptions check;
  check.presync = options.presync;
  check.condensing = options.condensing;
  Solo solo;
  TRY_ASSIGN(const clocks::Presynchronised presync,
             clocks::presynchronise(loaded.share(solo), check));
  Collector collector(1e6 / static_cast<double>(loaded.trace.definitions.clock.resolution_hz));
  const otf2::Archive& archive = otf2::archive_of(loaded);
  const otf2::Archive& real_archive = otf2::archive_of(real);
  for (LocationIndex l = 0; l < loaded.trace.locations.size(); ++l) {
    TRY_ASSIGN(const otf2::EventStamps events, otf2::read_stamps(archive, l));
    TRY_ASSIGN(const otf2::EventStamps true_events, otf2::read_stamps(real_archive, l));
    if (events.types != true_events.types) {
      return fail(ErrorKind::input, fmt::format("{} and {} do not have the same events",
                                                loaded.trace.path, real.trace.path));
    }
    const auto& records = loaded.trace.locations[l].clock_offsets;
    for (std::size_t i = 0; i < events.stamps.size(); ++i) {
      const std::uint64_t stamp = events.stamps[i];
      const bool inside =
          records.size() >= 2 && stamp >= records.front().time && stamp <= records.back().time;
      const auto error = presync.maps[l](stamp) - static_cast<std::int64_t>(true_events.stamps[i]);
      collector.add(static_cast<double>(error), presync.errors[l].at(stamp), inside);
    }
  }
  ClockErrors errors = collector.take();
  errors.method = name_of(presync.method);
  return errors;
}

}  // namespace entrain::test
