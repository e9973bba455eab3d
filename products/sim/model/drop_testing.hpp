// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/try.hpp"
#include "sim/model/drop.hpp"

// Losses of traces in memory, for tests: they are those of files.
namespace entrain::sim {

/// The RecordKind of an event of a skeleton; nothing for those that are never lost by themselves.
inline std::optional<RecordKind> record_kind(trace::EventKind kind) {
  switch (kind) {
    case trace::EventKind::send:
      return RecordKind::send;
    case trace::EventKind::isend:
      return RecordKind::isend;
    case trace::EventKind::recv:
      return RecordKind::recv;
    case trace::EventKind::irecv_request:
      return RecordKind::irecv_request;
    case trace::EventKind::irecv:
      return RecordKind::irecv;
    case trace::EventKind::request_cancelled:
      return RecordKind::request_cancelled;
    case trace::EventKind::collective_begin:
      return RecordKind::collective_begin;
    case trace::EventKind::collective_end:
      return RecordKind::collective_end;
    case trace::EventKind::nb_request:
      return RecordKind::nb_request;
    case trace::EventKind::nb_complete:
      return RecordKind::nb_complete;
    default:
      return std::nullopt;
  }
}

inline DropSpan span_of(const trace::LocationSkeleton& location) {
  return {location.first, location.last,
          std::any_of(location.events.begin(), location.events.end(),
                      [](const trace::Event& e) { return record_kind(e.kind).has_value(); })};
}

inline DropRecord record_of(const trace::Event& event, RecordKind kind) {
  return {.kind = kind, .time = event.time, .op = event.op, .request = event.id};
}

inline std::vector<bool> named_beginnings(const DropPlan& plan,
                                          const trace::LocationSkeleton& location) {
  if (!NamedBeginnings::needed(plan)) return {};
  NamedBeginnings beginnings(plan);
  for (const trace::Event& event : location.events) {
    if (const auto kind = record_kind(event.kind)) beginnings.add(record_of(event, *kind));
  }
  return beginnings.take();
}

/// Takes the events out of a skeleton that `stream` loses; returns the indices of the others.
inline std::vector<std::size_t> take_out(trace::LocationSkeleton& location,
                                         const LocationDrop& drop, DropStream& stream) {
  std::vector<std::size_t> stayed;
  trace::EventList left;
  for (std::size_t i = 0; i < location.events.size(); ++i) {
    const trace::Event& event = location.events[i];
    const auto kind = record_kind(event.kind);
    const bool lost = kind ? stream.loses(record_of(event, *kind)) : stream.loses_other(event.time);
    if (lost) continue;
    left.push_back(event);
    stayed.push_back(i);
  }
  location.event_count -= location.events.size() - stayed.size();
  location.events = std::move(left);
  if (drop.end && *drop.end <= location.first) {
    location.event_count = 0;
    location.flushes.clear();
    location.gaps.clear();
  } else if (drop.end) {
    location.last = std::min(location.last, *drop.end - 1);
    std::erase_if(location.flushes,
                  [&](const trace::FlushInterval& flush) { return flush.begin >= *drop.end; });
    std::erase_if(location.gaps, [&](const trace::Gap& gap) { return gap.begin >= *drop.end; });
    if (!location.gaps.empty() && location.gaps.back().end >= *drop.end) {
      location.gaps.back().end = trace::Gap::k_open;
    }
  }
  return stayed;
}

/// Adds the gap that the marks of a window make: up to its end, or for good if the trace ends
/// first.
inline void mark_window(trace::LocationSkeleton& location, const LocationDrop& drop) {
  const DropRange& window = *drop.window;
  if (drop.end && window.begin >= *drop.end) return;
  const bool ends = !drop.end || window.end < *drop.end;
  location.gaps.push_back({window.begin, ends ? window.end : trace::Gap::k_open});
  std::sort(location.gaps.begin(), location.gaps.end(),
            [](const trace::Gap& a, const trace::Gap& b) { return a.begin < b.begin; });
}

/// A trace that lost records.
struct DroppedTrace {
  trace::Trace trace;
  /// Per location and event that stayed: its index in LocationSkeleton::events before.
  std::vector<std::vector<std::size_t>> original;
  DropReport report;  ///< paths are not set; `events` and `lost` do not know records outside
                      ///< skeletons
};

/// Loses records of a trace in memory: the same communication records as the files lose. Of other
/// records a skeleton holds only the number, so event_count falls by the events that were lost, and
/// after an early end `last` is the last tick before that end. Marks at windows are not made.
/// Errors: as plan_drop(), and ErrorKind::usage for names of regions, which no skeleton holds.
inline Result<DroppedTrace> drop(const trace::Trace& trace, const DropOptions& options) {
  TRY_ASSIGN(DropPlan plan, plan_drop(trace.definitions, options));
  if (!plan.regions.empty()) {
    return fail(ErrorKind::usage, "a trace in memory holds no regions; name a kind of call");
  }
  std::vector<DropSpan> spans;
  for (const trace::LocationSkeleton& location : trace.locations) {
    spans.push_back(span_of(location));
  }
  draw_stretches(plan, spans, options);
  DroppedTrace result;
  result.trace = trace;
  result.report.seed = options.seed;
  result.report.resolution_hz = trace.definitions.clock.resolution_hz;
  for (LocationIndex l = 0; l < trace.locations.size(); ++l) {
    trace::LocationSkeleton& location = result.trace.locations[l];
    result.report.events += location.event_count;
    DropStream stream(plan, l, named_beginnings(plan, location));
    result.original.push_back(take_out(location, plan.locations[l], stream));
    if (options.mark_windows && plan.locations[l].window) mark_window(location, plan.locations[l]);
    add_location(result.report, trace.definitions, plan.locations[l], stream);
  }
  return result;
}

}  // namespace entrain::sim
