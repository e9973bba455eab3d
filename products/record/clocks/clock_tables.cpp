// SPDX-License-Identifier: BSD-3-Clause
#include "record/clocks/clock_tables.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "record/base/rank_list.hpp"

namespace entrain::record {

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

std::string offsets_as_csv(const std::vector<std::vector<ClockPoint>>& points) {
  std::string text =
      "# One line per process and session: when the clock of process `rank` showed local_ticks, "
      "that\n"
      "# of rank 0 showed local_ticks + offset_ticks, give or take half_width_ticks.\n"
      "session,rank,local_ticks,offset_ticks,half_width_ticks\n";
  for (std::size_t rank = 0; rank < points.size(); ++rank) {
    for (const ClockPoint& point : points[rank]) {
      text += std::to_string(point.session) + ',' + std::to_string(rank) + ',' +
              std::to_string(point.local) + ',' + std::to_string(point.offset) + ',' +
              std::to_string(point.half_width) + '\n';
    }
  }
  return text;
}

std::string processes_as_csv(const std::vector<ProcessRecord>& processes) {
  std::string text =
      "# One line per process: it read `timer` on `host` from begin_ticks to end_ticks. It is "
      "known to\n"
      "# read the same clock as process clock_of, the first one that does.\n"
      "rank,host,timer,ticks_per_second,begin_ticks,end_ticks,clock_of\n";
  const auto word = [](std::string name) {
    std::replace(name.begin(), name.end(), ',', ';');
    return name + ',';
  };
  const std::vector<std::uint32_t> clocks = shared_clocks(processes);
  for (std::size_t rank = 0; rank < processes.size(); ++rank) {
    const ProcessRecord& process = processes[rank];
    std::uint64_t end = std::max(process.ended_at, process.realtime_at);
    if (!process.samples.empty()) end = std::max(end, process.samples.back().local);
    text += std::to_string(rank) + ',' + word(process.host) + word(process.timer) +
            std::to_string(process.ticks_per_second) + ',' + std::to_string(process.realtime_at) +
            ',' + std::to_string(end) + ',' + std::to_string(clocks[rank]) + '\n';
  }
  return text;
}

std::string shared_clocks_as_text(const std::vector<ProcessRecord>& processes) {
  std::map<std::uint32_t, std::vector<int>> sets;
  const std::vector<std::uint32_t> clocks = shared_clocks(processes);
  for (std::size_t rank = 0; rank < clocks.size(); ++rank) {
    sets[clocks[rank]].push_back(static_cast<int>(rank));
  }
  std::string text;
  for (const auto& [clock, ranks] : sets) {
    if (ranks.size() > 1) text += (text.empty() ? "" : " ") + join_ranks(ranks);
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
