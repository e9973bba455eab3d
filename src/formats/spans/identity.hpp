// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/report.hpp>

#include "formats/spans/family.hpp"
#include "formats/spans/spans.hpp"
#include "formats/tables/steps.hpp"

namespace entrain::spans {

/// The clock of a place from a stamp on.
struct Period {
  std::uint64_t first = 0;  ///< ns
  std::uint32_t host = 0;   ///< position in Identity::clocks
};

/// A clock was set back: what it stamped from `first` on comes before what it stamped below that.
struct Fold {
  std::uint32_t host = 0;   ///< position in Identity::clocks
  std::uint64_t stamp = 0;  ///< a stamp from `first` to the last one below, ns
  std::uint64_t first = 0;  ///< ns
};

/// Steps in which clocks count, ns; index: clock.
struct Steps {
  std::vector<std::uint64_t> of_begins, of_ends;
  /// The same as far as stamps show it, which are all multiples of a s, ms or us. More than that
  /// may be the beat of a timer that starts calls.
  std::vector<std::uint64_t> shown_in_begins, shown_in_ends;
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
  const auto shown_in = [](const std::vector<tables::Step>& all) {
    std::vector<std::uint64_t> units;
    for (const tables::Step& one : all) {
      std::uint64_t unit = 1'000'000'000;
      while (unit > 1 && !one.has_all_at(unit)) unit /= 1000;
      units.push_back(unit);
    }
    return units;
  };
  return {steps_of(begins), steps_of(ends), shown_in(begins), shown_in(ends)};
}

/// Which clock stamped what.
struct Identity {
  Clocks clocks;                             ///< order: that of their first spans
  std::vector<std::vector<Period>> periods;  ///< index: number in Spans::clocks; in order of time
  std::vector<bool> aside;                   ///< true for a clock whose times are no evidence
  /// Pairs of clocks of which one is several, no one knows which; the first is the smaller number.
  std::set<std::pair<std::uint32_t, std::uint32_t>> several;
  std::vector<SetAside> set_aside;
  std::vector<std::string> notes;  ///< what was concluded, a sentence each

  [[nodiscard]] std::uint32_t host_of(std::uint32_t clock, std::uint64_t time) const;
};

/// Makes the times of clocks from folds on those of clocks of their own, since no map of a clock's
/// times exchanges them. `folds`: in order.
void divide(Identity& identity, Spans& spans, std::span<const Fold> folds);

/// Finds the clocks, and sets Span::host. A group of places is one clock unless the times say
/// otherwise:
///
/// * Times that a viewer has moved, and times a day or more from all that calls them or that they
///   call, are no times of this run. If at least three calls tie them to others, they are of the
///   same clock before it was set; else they are set aside. A factor of 1,000, 10^6 or 10^9 is
///   named.
/// * If more than three times in a row of calls of two groups, and at a tenth of them, successive
///   calls show offsets that exclude each other, one of the two is several clocks. If the places
///   of a group resolve that, each is a clock; else nothing is concluded from calls between them.
///   A client that gives up explains offsets that differ by less than the length of its span.
/// * A place has a clock of its own if most of its calls with others of its group, and more than
///   three, exclude in the same way that theirs is the same: servers begin before their clients, or
///   more than a minute after them.
///
/// O(n) if no time is set aside, else O(n log n).
Identity identify(Spans& spans, const Family& family);

}  // namespace entrain::spans
