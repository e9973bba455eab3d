// SPDX-License-Identifier: BSD-3-Clause
#include "engine/page_survey.hpp"

#include <utility>

#include "engine/correct_output.hpp"
#include "page/collect.hpp"

namespace entrain::engine {

namespace {

page::SurveyScope scope_of(session::Workers& workers, const Timeline& timeline,
                           const page::Layout& layout) {
  const TimeRange range =
      time_range(timeline.loaded.share(workers.processes()), timeline.measured.maps);
  return {.row_of = layout.row_of,
          .clock_of = layout.clock_of,
          .clocks = static_cast<std::uint32_t>(layout.clocks.size()),
          .begin = range.first,
          .end = range.last};
}

}  // namespace

PageSurvey::PageSurvey(session::Workers& workers, const Timeline& timeline)
    : workers_(workers),
      timeline_(timeline),
      layout_(page::make_layout(timeline.loaded.trace.definitions, timeline.shared_clocks)),
      before_(scope_of(workers, timeline, layout_)),
      after_(before_.scope()) {}

Result<page::Data> PageSurvey::checked(const ClockBounds* bounds) const {
  const trace::Share share = timeline_.loaded.share(workers_.processes());
  const std::vector<ClockMap>& maps = timeline_.presync.maps;
  return page::collect({.share = share,
                        .source = timeline_.loaded.reader.get(),
                        .before = maps,
                        .after = maps,
                        .edges_before = before_,
                        .bounds = bounds},
                       layout_);
}

Result<page::Data> PageSurvey::corrected(std::span<const ClockMap> maps, bool seen,
                                         const ClockBounds* bounds) const {
  const trace::Share share = timeline_.loaded.share(workers_.processes());
  return page::collect({.share = share,
                        .source = timeline_.loaded.reader.get(),
                        .before = timeline_.measured.maps,
                        .after = maps,
                        .edges_before = before_,
                        .edges_after = seen ? &after_ : nullptr,
                        .bounds = bounds},
                       layout_);
}

bool few_rows(const Timeline& timeline, std::uint64_t windows) {
  return windows <= k_most_page_rows / std::max<std::size_t>(timeline.presync.maps.size(), 1);
}

}  // namespace entrain::engine
