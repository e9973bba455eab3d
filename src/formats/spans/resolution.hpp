// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "formats/spans/spans.hpp"
#include "formats/tables/steps.hpp"

namespace entrain::spans {

/// Steps in which clocks count, ns; index: clock.
struct Steps {
  std::vector<std::uint64_t> of_begins, of_ends;
};

/// Learns the steps of begins and ends, which are no less than the unit of a file where all stamps
/// are multiples of it; `clock_of(span)` is below `clocks`. O(n).
template <class ClockOf>
Steps learn_steps(const Spans& spans, std::size_t clocks, const ClockOf& clock_of) {
  std::vector<tables::Step> begins(clocks), ends(clocks);
  for (const Span& span : spans.all) {
    begins[clock_of(span)].add(span.begin);
    ends[clock_of(span)].add(span.end);
  }
  const auto unit_of = [&](const tables::Step& one) -> std::uint64_t {
    for (std::uint64_t unit = spans.unit; unit > 1; unit /= 1000) {
      if (one.has_all_at(unit)) return unit;
    }
    return 1;
  };
  const auto steps_of = [&](const std::vector<tables::Step>& all) {
    std::vector<std::uint64_t> steps;
    for (const tables::Step& one : all) {
      steps.push_back(std::max({one.learned(), one.whole(), unit_of(one)}));
    }
    return steps;
  };
  return {steps_of(begins), steps_of(ends)};
}

}  // namespace entrain::spans
