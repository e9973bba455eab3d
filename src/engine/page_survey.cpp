// SPDX-License-Identifier: BSD-3-Clause
#include "engine/page_survey.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "base/try.hpp"
#include "engine/correct_output.hpp"
#include "formats/rows.hpp"
#include "page/collect.hpp"

namespace entrain::engine {

namespace {

page::SurveyScope scope_of(trace::Workers& workers, const Timeline& timeline,
                           const trace::Layout& layout) {
  const TimeRange range =
      time_range(timeline.loaded.share(workers.processes()), timeline.measured.maps);
  return {.row_of = layout.row_of,
          .clock_of = layout.clock_of,
          .clocks = static_cast<std::uint32_t>(layout.clocks.size()),
          .begin = range.first,
          .end = range.last};
}

/// Selects the calls near the ends of the edges whose calls a page shows: those that begin or end
/// within some times the edge's margin.
formats::WorkFilter near_edges(const page::Data& data) {
  constexpr std::int64_t k_margins = 8;
  return [&data](std::uint32_t clock, std::uint64_t begin, std::uint64_t end) {
    for (std::uint32_t i = 0; i < data.time_lines; ++i) {
      const page::PageEdge& edge = data.edges[i];
      const std::int64_t most = std::numeric_limits<std::int64_t>::max() / k_margins;
      const auto reach = static_cast<std::uint64_t>(
          k_margins * std::min(most, std::abs(edge.received_before - edge.sent_before)));
      for (const bool receives : {false, true}) {
        const std::uint64_t stamp = receives ? edge.received_stamp : edge.sent_stamp;
        const bool is_late = begin > stamp && begin - stamp > reach;
        const bool is_early = end < stamp && stamp - end > reach;
        if ((receives ? edge.to : edge.from) == clock && !is_late && !is_early) return true;
      }
    }
    return false;
  };
}

}  // namespace

PageSurvey::PageSurvey(trace::Workers& workers, const formats::Source& source,
                       const Timeline& timeline)
    : workers_(workers),
      source_(source),
      timeline_(timeline),
      layout_(trace::make_layout(timeline.loaded.trace.definitions, timeline.shared_clocks)),
      before_(scope_of(workers, timeline, layout_)),
      after_(before_.scope()) {}

Result<page::Data> PageSurvey::page(std::span<const ClockMap> before,
                                    std::span<const ClockMap> after, bool seen,
                                    const std::optional<ClockBounds>& bounds) const {
  const trace::Share share = timeline_.loaded.share(workers_.processes());
  const page::Material material{.share = share,
                                .before = before,
                                .after = after,
                                .edges_before = before_,
                                .edges_after = seen ? &after_ : nullptr,
                                .bounds = bounds ? &*bounds : nullptr};
  page::Data data = page::collect(material, layout_);
  data.format = source_.format_name();
  if (timeline_.loaded.reader != nullptr) {
    TRY(page::add_calls(material, *timeline_.loaded.reader, data));
    return data;
  }
  TRY_ASSIGN(const auto rows, source_.rows(timeline_.loaded.trace, near_edges(data)));
  if (rows) TRY(page::add_calls(material, *rows, data));
  return data;
}

}  // namespace entrain::engine
