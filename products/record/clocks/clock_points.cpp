// SPDX-License-Identifier: BSD-3-Clause
#include "record/clocks/clock_points.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace entrain::record {
namespace {

__extension__ using Wide = __int128;

/// The points on either side of `local`; the outermost segments extend without end.
std::size_t segment_of(const std::vector<ClockPoint>& points, std::uint64_t local) {
  std::size_t i = 0;
  while (i + 2 < points.size() && local >= points[i + 1].local) ++i;
  return i;
}

/// Per session the kept sample with the shortest round trip.
std::map<std::uint32_t, ClockSample> best_samples(const std::vector<ClockSample>& samples) {
  std::map<std::uint32_t, ClockSample> best;
  for (const ClockSample& sample : samples) {
    if (!sample.kept) continue;
    const auto [place, is_new] = best.try_emplace(sample.session, sample);
    if (!is_new && sample.round_trip < place->second.round_trip) place->second = sample;
  }
  return best;
}

std::vector<ClockPoint> points_of(const ProcessRecord& process, const ProcessRecord& parent,
                                  const std::vector<ClockPoint>& parents) {
  std::vector<ClockPoint> points;
  for (const auto& [session, sample] : best_samples(process.samples)) {
    const std::uint64_t master = master_time(parents, sample.parent);
    ClockPoint point{session, sample.local, static_cast<std::int64_t>(master - sample.local), 0};
    point.half_width = (sample.round_trip + 1) / 2 + half_width_at(parents, sample.parent) +
                       std::max(process.granularity, parent.granularity);
    if (points.empty() || point.local > points.back().local) points.push_back(point);
  }
  return points;
}

/// The master has an exact record wherever another process has a session.
std::vector<ClockPoint> points_of_master(const std::vector<ProcessRecord>& processes) {
  std::map<std::uint32_t, std::uint64_t> times;
  for (const ProcessRecord& process : processes) {
    if (process.parent != 0 || process.shares_parents_clock) continue;
    for (const ClockSample& sample : process.samples) {
      times.try_emplace(sample.session, sample.parent);
    }
  }
  std::vector<ClockPoint> points;
  for (const auto& [session, time] : times) {
    if (points.empty() || time > points.back().local) points.push_back({session, time, 0, 0});
  }
  return points;
}

}  // namespace

void drop_slowest(std::vector<ClockSample>& samples, double share) {
  std::vector<std::size_t> order(samples.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return samples[a].round_trip > samples[b].round_trip;
  });
  const auto dropped =
      static_cast<std::size_t>(std::floor(share * static_cast<double>(samples.size())));
  for (std::size_t i = 0; i < dropped && i < order.size(); ++i) samples[order[i]].kept = false;
}

std::vector<std::uint32_t> shared_clocks(const std::vector<ProcessRecord>& processes) {
  std::vector<std::uint32_t> first(processes.size());
  for (std::size_t p = 0; p < first.size(); ++p) {
    // A process shares the clock of the first one of its host, which comes before it.
    const ProcessRecord& process = processes[p];
    const bool shares = process.shares_parents_clock && process.proved && process.parent < p;
    first[p] = shares ? first[process.parent] : static_cast<std::uint32_t>(p);
  }
  return first;
}

std::uint64_t master_time(const std::vector<ClockPoint>& points, std::uint64_t local) {
  if (points.empty()) return local;
  const std::size_t i = segment_of(points, local);
  const ClockPoint& a = points[i];
  Wide offset = a.offset;
  if (points.size() > 1) {
    const ClockPoint& b = points[i + 1];
    const Wide span = static_cast<Wide>(b.local) - a.local;
    const Wide rise = static_cast<Wide>(b.offset) - a.offset;
    const Wide scaled = rise * (static_cast<Wide>(local) - a.local);
    offset += (scaled + (scaled >= 0 ? span / 2 : -(span / 2))) / span;
  }
  return local + static_cast<std::uint64_t>(offset);
}

std::uint64_t half_width_at(const std::vector<ClockPoint>& points, std::uint64_t local) {
  if (points.empty()) return 0;
  const std::size_t i = segment_of(points, local);
  const ClockPoint& a = points[i];
  if (points.size() == 1) return a.half_width;
  const ClockPoint& b = points[i + 1];
  const Wide span = static_cast<Wide>(b.local) - a.local;
  const auto size = [](Wide value) { return value < 0 ? -value : value; };
  const Wide from_a = size(static_cast<Wide>(local) - a.local);
  const Wide from_b = size(static_cast<Wide>(b.local) - local);
  const Wide weighted = from_b * a.half_width + from_a * b.half_width;
  return static_cast<std::uint64_t>((weighted + span - 1) / span);
}

std::vector<std::vector<ClockPoint>> clock_points(const std::vector<ProcessRecord>& processes) {
  std::vector<std::vector<ClockPoint>> points(processes.size());
  if (processes.empty()) return points;
  std::vector<bool> done(processes.size(), false);
  points[0] = points_of_master(processes);
  done[0] = true;
  // Parents first. A process without measurement, or below one, is left alone.
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t p = 1; p < processes.size(); ++p) {
      const ProcessRecord& process = processes[p];
      if (done[p] || !process.measured || process.parent >= processes.size() ||
          !done[process.parent]) {
        continue;
      }
      const auto& parents = points[process.parent];
      points[p] = process.shares_parents_clock
                      ? parents
                      : points_of(process, processes[process.parent], parents);
      done[p] = progress = true;
    }
  }
  return points;
}

}  // namespace entrain::record
