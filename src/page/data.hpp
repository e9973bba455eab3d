// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <entrain/stragglers.hpp>

#include "page/curve.hpp"
#include "page/survey.hpp"
#include "trace/layout.hpp"

namespace entrain::page {

/// A straight line through the offsets of a clock: offset + rate * (x - begin).
struct OffsetLine {
  std::int64_t x = 0;       ///< time, ticks
  std::int64_t offset = 0;  ///< there: time minus stamp, ticks
  double rate = 0;          ///< ticks per tick
};

/// The course of a clock. Empty for a clock without events.
struct ClockCourse {
  bool used = false;
  bool zero = false;             ///< it was measured, and every time with offset 0
  OffsetLine measured;           ///< the chord of the map before a correction
  std::int64_t moved_ticks = 0;  ///< largest distance of the maps before and after
  std::int64_t bend_ticks = 0;   ///< largest distance of one of these from its chord
  std::uint64_t sessions = 0;    ///< measurements of the clock
};

/// A measurement of a clock, or the interval that is proved, against the
/// clock's measured line.
struct SessionDot {
  std::int64_t x = 0, y = 0, half_width = 0;  ///< ticks
};
struct BandPoint {
  std::int64_t x = 0, least = 0, most = 0;  ///< ticks
};

/// The curves of a clock: distances from its measured line, ticks, over final
/// times.
struct Curve {
  std::uint32_t clock = 0;
  std::vector<Point> before,
      after;                    ///< the map; `after` empty without a correction
  std::vector<BandPoint> band;  ///< only where proved
  std::vector<SessionDot> sessions;
};

/// An edge that the page names, with its times under both maps.
struct PageEdge {
  EdgeKind kind{};
  LocationIndex from = k_none, to = k_none;
  std::int64_t sent_before = 0, received_before = 0;
  std::int64_t sent_after = 0, received_after = 0;
  std::uint64_t sent_stamp = 0, received_stamp = 0;  ///< stored stamps
};

/// A call begins or ends near an edge.
struct NearbyRecord {
  std::uint32_t edge = 0;  ///< position in Data::edges
  bool receiver = false;   ///< true: the receiving end
  bool enter = false;
  std::uint32_t region = k_none;  ///< position in Data::region_names
  std::int64_t before = 0, after = 0;
};

/// A sampled collective before and, where it was found, after.
struct PageInstance {
  SampledInstance before;
  std::optional<SampledInstance> after;
};

/// Everything that a page shows beside the report, reduced to what a reader can
/// see.
struct Data {
  trace::Layout layout;
  std::uint64_t resolution_hz = 1;
  std::int64_t begin = 0, end = 0;  ///< range of the trace, final times, ticks
  bool corrected = false;           ///< `after` means something
  std::string format;               ///< what the trace is: Source::format_name()
  std::uint32_t reference = 0;      ///< clock
  std::vector<ClockCourse> clocks;  ///< clocks in the order of the layout
  std::vector<Curve> curves;        ///< curves of the clocks that bend most, at most k_most_curves
  std::vector<PageEdge> edges;      ///< the first `time_lines` are the worst pairs' worst ones
  std::uint32_t time_lines = 0;
  std::vector<NearbyRecord> nearby;  ///< records near these edges, in order of edge, end and time
  EdgeCounts before, after;          ///< counts of all edges
  std::uint64_t instances = 0;
  std::vector<PageInstance> sample;
  std::optional<StragglerReport> stragglers;  ///< set if there are collectives and bounds
  std::vector<std::string> region_names;      ///< names for `nearby`
  std::vector<std::string> location_names;    ///< name of each location of `edges`; "" for others
};

/// More lines in one plot cannot be told apart.
inline constexpr std::size_t k_most_curves = 16;

}  // namespace entrain::page
