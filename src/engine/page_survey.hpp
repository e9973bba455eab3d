// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "engine/timeline.hpp"
#include "formats/source.hpp"
#include "page/data.hpp"

namespace entrain::engine {

/// Gathers what a page shows in the course of a check or correction. Its calls are collective over
/// the processes of the run.
class PageSurvey {
 public:
  /// `timeline` must have its clocks and maps. All must outlive this.
  PageSurvey(trace::Workers& workers, const formats::Source& source, const Timeline& timeline);

  /// For CheckSetting::survey, of the check before or after a correction.
  page::Survey* before() { return &before_; }
  page::Survey* after() { return &after_; }

  /// The page of a check, whose maps are `before` and `after`, or of a correction. `seen`: after()
  /// was filled. Errors: those of reading the calls around edges.
  [[nodiscard]] Result<page::Data> page(std::span<const ClockMap> before,
                                        std::span<const ClockMap> after, bool seen,
                                        const std::optional<ClockBounds>& bounds) const;

 private:
  trace::Workers& workers_;
  const formats::Source& source_;
  const Timeline& timeline_;
  trace::Layout layout_;
  page::Survey before_, after_;
};

}  // namespace entrain::engine
