// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <entrain/options.hpp>
#include <entrain/report.hpp>

#include "engine/timeline.hpp"
#include "engine/verbs.hpp"
#include "formats/recording.hpp"
#include "session/workers.hpp"
#include "verify/observer.hpp"

namespace entrain::engine {

/// Errors: ErrorKind::usage for options that concern archives only.
Result<void> check_use(const CheckOptions& options);

/// The options with what is known of the clocks of recordings.
CheckOptions with_kind(CheckOptions options);

/// The clocks of a report, and what there is to warn of.
void set_clocks(const formats::Recording& recording, ClockEstimation clocks, CheckReport& report);

/// Refuses maps under which the events of a clock would change their order.
Result<void> check_order(const formats::Recording& recording, std::span<const ClockMap> maps);

/// Refuses files of one name from several folders, whose copies would be one.
Result<void> check_names(const formats::Recording& recording);

/// A recording's edges with the times that clock maps give them.
class RecordingTimeline {
 public:
  /// `aligned`: as TimelineUse.
  static Result<std::unique_ptr<RecordingTimeline>> take(
      const Run& run, const formats::Recording& recording, const CheckOptions& options,
      Purpose purpose, const std::vector<ClockMap>* aligned = nullptr);

  /// `observer`: as for count_edges().
  [[nodiscard]] CheckReport count(const formats::Recording& recording,
                                  std::span<const ClockMap> maps,
                                  verify::EdgeObserver* observer = nullptr);

  /// `page`: with rows for a page, if they are few enough.
  Result<ClockBounds> bounds(std::span<const ClockMap> maps, bool page);

  session::Workers& workers() { return workers_; }

  Timeline timeline;

 private:
  RecordingTimeline(const Run& run, CheckOptions options)
      : options_(std::move(options)),
        workers_(run.processes, options_.threads),
        progress_(run.progress) {}

  CheckOptions options_;
  session::Workers workers_;
  Progress* progress_;
};

}  // namespace entrain::engine
