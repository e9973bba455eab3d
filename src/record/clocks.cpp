// SPDX-License-Identifier: BSD-3-Clause
#include "record/clocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace entrain::record {
namespace {

__extension__ using Wide = __int128;

/// The points on either side of `local`; the outermost segments go on for ever.
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

std::string samples_as_csv(const std::vector<ProcessRecord>& processes,
                           const std::vector<std::vector<ClockPoint>>& points) {
  std::string text =
      "# One line per exchange: process `rank` sent at local_ticks - round_trip_ticks/2 of its\n"
      "# clock and had the answer of `parent` one round trip later. parent_ticks is the parent's\n"
      "# clock when it answered, master_ticks the same instant on the clock of rank 0. A tick is "
      "a\n"
      "# nanosecond. kept=0: among the slowest of its session, left aside.\n"
      "session,rank,parent,local_ticks,parent_ticks,master_ticks,round_trip_ticks,kept\n";
  for (std::size_t p = 0; p < processes.size(); ++p) {
    const ProcessRecord& process = processes[p];
    for (const ClockSample& s : process.samples) {
      const std::uint64_t master = master_time(points[process.parent], s.parent);
      for (const std::uint64_t word :
           {std::uint64_t{s.session}, std::uint64_t{process.rank}, std::uint64_t{process.parent},
            s.local, s.parent, master, s.round_trip}) {
        text += std::to_string(word) + ',';
      }
      text += s.kept ? "1\n" : "0\n";
    }
  }
  return text;
}

std::string delays_as_csv(const std::vector<ProcessRecord>& processes,
                          const std::vector<std::vector<ClockPoint>>& points) {
  struct Shortest {
    std::int64_t to_parent = std::numeric_limits<std::int64_t>::max();
    std::int64_t to_child = std::numeric_limits<std::int64_t>::max();
    std::uint64_t round_trip = std::numeric_limits<std::uint64_t>::max();
  };
  std::map<std::pair<std::string, std::string>, Shortest> pairs;
  for (std::size_t p = 0; p < processes.size(); ++p) {
    const ProcessRecord& process = processes[p];
    for (const ClockSample& s : process.samples) {
      Shortest& pair = pairs[{process.host, processes[process.parent].host}];
      const std::uint64_t answered = master_time(points[process.parent], s.parent);
      const std::uint64_t sent = master_time(points[p], s.local - s.round_trip / 2);
      const std::uint64_t received = master_time(points[p], s.local + s.round_trip / 2);
      pair.to_parent = std::min(pair.to_parent, static_cast<std::int64_t>(answered - sent));
      pair.to_child = std::min(pair.to_child, static_cast<std::int64_t>(received - answered));
      pair.round_trip = std::min(pair.round_trip, s.round_trip);
    }
  }
  std::string text =
      "# Shortest ways between nodes seen in clock sessions, ticks of a nanosecond. Half of the\n"
      "# shortest round trip is certain not to exceed the mean of the two ways; single ways lean\n"
      "# on the interpolated clocks.\n"
      "child_node,parent_node,min_round_trip_ticks,min_to_parent_ticks,min_to_child_ticks\n";
  for (const auto& [nodes, pair] : pairs) {
    text += nodes.first + ',' + nodes.second + ',' + std::to_string(pair.round_trip) + ',' +
            std::to_string(pair.to_parent) + ',' + std::to_string(pair.to_child) + '\n';
  }
  return text;
}

}  // namespace entrain::record
