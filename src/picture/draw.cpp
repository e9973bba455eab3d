// SPDX-License-Identifier: BSD-3-Clause
#include "picture/draw.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/cancel.hpp"
#include "base/exact.hpp"
#include "base/try.hpp"

namespace entrain::picture {

namespace {

constexpr std::size_t k_block = std::size_t{1} << 20;

/// An end of an arrow.
struct Place {
  NodeIndex node = k_none;
  bool arrival = false;
  Family family = Family::message;
  bool whole = false;  ///< the other end is in the picture too
  std::uint64_t flow = 0;
};

bool is_inside(std::span<const Window> windows, std::int64_t time) {
  const auto next = std::upper_bound(windows.begin(), windows.end(), time,
                                     [](std::int64_t t, const Window& w) { return t < w.begin; });
  return next != windows.begin() && time <= std::prev(next)->end;
}

/// The ends of arrows in the windows: by node, those that can be one mark together.
BigVector<Place> places_of(const Scene& scene, const Layer& layer, ExportReport& drawn) {
  BigVector<Place> places;
  for (std::uint64_t i = 0; i < layer.flows.size(); ++i) {
    const Flow& flow = layer.flows[i];
    const bool from = is_inside(scene.windows, layer.node_times[flow.from]);
    const bool to = is_inside(scene.windows, layer.node_times[flow.to]);
    const Family family = family_of(flow.kind);
    if (from) places.push_back({flow.from, false, family, to, i});
    if (to) places.push_back({flow.to, true, family, from, i});
    if (from && to) ++drawn.flows;
    if (from && to && flow.margin < 0) ++drawn.backward;
  }
  std::ranges::sort(places, [](const Place& a, const Place& b) {
    return std::tuple(a.node, a.arrival, a.family, a.flow) <
           std::tuple(b.node, b.arrival, b.family, b.flow);
  });
  return places;
}

/// Draws one location after the other.
class Drawer {
 public:
  Drawer(const Scene& scene, const Layer& layer, Writer& writer, const Sink& sink,
         ExportReport& drawn)
      : scene_(scene),
        layer_(layer),
        writer_(writer),
        sink_(sink),
        hz_(scene.trace.definitions.clock.resolution_hz),
        drawn_(drawn),
        places_(places_of(scene, layer, drawn)) {}

  Result<void> location(LocationIndex l, Progress* progress) {
    ++drawn_.tracks;
    start(l);
    ClockMap::Cursor clock(layer_.maps[l]);
    TRY(scene_.source.visit_regions(l, progress, [&](const trace::RegionRecord& record) {
      marks_before(record.time, !record.enter);
      move_to(clock(record.time));
      record.enter ? enter(record.region) : leave();
      if (writer_.text().size() >= k_block && written_) written_ = flush();
    }));
    marks_before(std::numeric_limits<std::uint64_t>::max(), true);
    if (is_open_) close(last_);
    if (!written_) return std::exchange(written_, {});
    return flush();
  }

 private:
  void start(LocationIndex l) {
    track_ = {layer_.group, l};
    end_node_ = scene_.graph.first_node[l + 1];
    stack_.clear();
    window_ = 0;
    is_open_ = false;
    last_ = std::numeric_limits<std::int64_t>::min();
  }

  [[nodiscard]] std::uint64_t ns(std::int64_t time) const {
    return to_ns(time, scene_.origin, hz_);
  }

  Result<void> flush() {
    TRY(sink_(writer_.text()));
    writer_.text().clear();
    return {};
  }

  /// Opens and closes the windows that begin and end up to `time`. Calls never go back, though a
  /// map may.
  void move_to(std::int64_t time) {
    time = last_ = std::max(last_, time);
    for (; window_ < scene_.windows.size(); ++window_) {
      const Window& window = scene_.windows[window_];
      if (!is_open_) {
        if (time < window.begin) return;
        is_open_ = true;
        for (const std::uint32_t region : stack_) show(window.begin, region);
      }
      if (time <= window.end) return;
      close(window.end);
    }
  }
  void close(std::int64_t time) {
    for (std::size_t i = 0; i < stack_.size(); ++i) writer_.leave(track_, ns(time));
    is_open_ = false;
  }
  void show(std::int64_t time, std::uint32_t region) {
    writer_.enter(track_, ns(time), region);
    ++drawn_.slices;
  }
  void enter(std::uint32_t region) {
    stack_.push_back(region);
    if (is_open_) show(last_, region);
  }
  /// A Leave ends the innermost call, whatever region it names.
  void leave() {
    if (stack_.empty()) return;
    stack_.pop_back();
    if (is_open_) writer_.leave(track_, ns(last_));
  }

  /// Marks of this location with stamps before `stamp`, or `with` it.
  void marks_before(std::uint64_t stamp, bool with) {
    while (next_ < places_.size() && places_[next_].node < end_node_) {
      const Place& first = places_[next_];
      const std::uint64_t at = scene_.graph.stamp[first.node];
      if (at > stamp || (at == stamp && !with)) return;
      std::size_t end = next_;
      while (end < places_.size() && places_[end].node == first.node &&
             places_[end].arrival == first.arrival && places_[end].family == first.family) {
        ++end;
      }
      mark({places_.data() + next_, end - next_});
      next_ = end;
    }
  }

  void mark(std::span<const Place> places) {
    const Place& first = places.front();
    move_to(layer_.node_times[first.node]);
    const std::uint64_t at = ns(layer_.node_times[first.node]);
    ends_.clear();
    for (const Place& place : places) {
      if (!place.whole) continue;
      ends_.push_back({1 + layer_.group * layer_.flows.size() + place.flow,
                       layer_.flows[place.flow].margin < 0});
    }
    writer_.mark(track_, at, {.family = first.family, .arrival = first.arrival, .flows = ends_});
    if (!first.arrival) return;
    for (const Place& place : places) {
      const Flow& flow = layer_.flows[place.flow];
      if (flow.margin >= 0) continue;
      ++drawn_.violations;
      writer_.violation(track_, at,
                        {.kind = name_of(flow.kind),
                         .cause = scene_.graph.location_of(flow.from),
                         .margin_ns = duration_ns(flow.margin, hz_),
                         .bound_ns = duration_ns(flow.bound, hz_)});
    }
  }

  const Scene& scene_;
  const Layer& layer_;
  Writer& writer_;
  const Sink& sink_;
  std::uint64_t hz_;
  ExportReport& drawn_;
  BigVector<Place> places_;
  std::size_t next_ = 0;  ///< the first of places_ that is not drawn
  std::vector<FlowEnd> ends_;
  Result<void> written_;

  // The present location:
  Track track_;
  NodeIndex end_node_ = 0;
  std::vector<std::uint32_t> stack_;  ///< regions of the calls that are open
  std::size_t window_ = 0;            ///< the first one that has not ended
  bool is_open_ = false;              ///< the window `window_` has begun
  std::int64_t last_ = 0;             ///< time of the last event; calls do not go back
};

}  // namespace

std::vector<Window> joined(std::vector<Window> windows) {
  std::ranges::sort(windows, {}, &Window::begin);
  std::vector<Window> result;
  for (const Window& window : windows) {
    if (!result.empty() && window.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, window.end);
    } else {
      result.push_back(window);
    }
  }
  return result;
}

std::uint64_t to_ns(std::int64_t time, std::int64_t origin, std::uint64_t resolution_hz) {
  constexpr Int128 k_most = std::numeric_limits<std::int64_t>::max();
  const Int128 ns = std::max<Int128>(Int128{time} - origin, 0) * k_billion / Int128{resolution_hz};
  return static_cast<std::uint64_t>(std::min(ns, k_most));
}

std::int64_t duration_ns(std::int64_t ticks, std::uint64_t resolution_hz) {
  const auto size = static_cast<std::int64_t>(
      ticks < 0
          ? to_ns(0, std::max(ticks, -std::numeric_limits<std::int64_t>::max()), resolution_hz)
          : to_ns(ticks, 0, resolution_hz));
  return ticks < 0 ? -size : size;
}

Result<void> draw(const Scene& scene, const Layer& layer, Writer& writer, const Sink& sink,
                  Progress* progress, ExportReport& drawn) {
  Drawer drawer(scene, layer, writer, sink, drawn);
  for (LocationIndex l = 0; l < scene.trace.locations.size(); ++l) {
    if (scene.trace.locations[l].event_count == 0) continue;
    TRY(Cancel(progress).check());
    TRY(drawer.location(l, progress));
  }
  return {};
}

}  // namespace entrain::picture
