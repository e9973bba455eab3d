// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/export.hpp>
#include <entrain/progress.hpp>

#include "match/graph.hpp"
#include "picture/flows.hpp"
#include "picture/writer.hpp"
#include "trace/trace.hpp"

namespace entrain::picture {

/// A part of the time axis, ticks, ends included.
struct Window {
  std::int64_t begin = 0, end = 0;
};

/// In order, with those that touch made one.
std::vector<Window> joined(std::vector<Window> windows);

/// Takes a piece of the file; its error ends the writing.
using Sink = std::function<Result<void>(std::string_view)>;

/// Input of the drawing. All of it must outlive the drawing.
struct Scene {
  const trace::EventReader& source;  ///< source of the calls
  const trace::Trace& trace;
  const match::Graph& graph;
  std::int64_t origin = 0;             ///< ticks: 0 ns of the picture; no event is earlier
  const std::vector<Window>& windows;  ///< the parts that are drawn, as joined() gives them
};

/// The times by which it is drawn: a group of tracks.
struct Layer {
  std::uint32_t group = 0;
  std::vector<ClockMap> maps{};  ///< one map for each location
  BigVector<std::int64_t> node_times{};
  BigVector<Flow> flows{};
};

/// ns from `origin` to `time`, ticks of `resolution_hz`, rounded down; 0 for earlier times, and the
/// largest number of 63 bits beyond it.
std::uint64_t to_ns(std::int64_t time, std::int64_t origin, std::uint64_t resolution_hz);
/// The same of a duration of either sign.
std::int64_t duration_ns(std::int64_t ticks, std::uint64_t resolution_hz);

/// Draws the tracks of a layer, between begin() and end() of `writer`. Calls that are open where a
/// window begins begin there, and likewise at its end. Adds what it draws to the counts of `drawn`.
/// Memory for the ends of arrows in the windows only. Errors: those of `sink` and of
/// Source::visit_regions(), ErrorKind::interrupted.
Result<void> draw(const Scene& scene, const Layer& layer, Writer& writer, const Sink& sink,
                  Progress* progress, ExportReport& drawn);

}  // namespace entrain::picture
