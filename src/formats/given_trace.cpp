// SPDX-License-Identifier: BSD-3-Clause
#include "formats/given_trace.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include <fmt/core.h>

#include "trace/properties.hpp"

namespace entrain::formats {
namespace {

/// Numbers names in order of their first use; every empty one is a new one.
class Numbers {
 public:
  std::uint32_t of(const std::string& name) {
    if (name.empty()) return next_++;
    const auto [place, is_new] = known_.emplace(name, next_);
    if (is_new) ++next_;
    return place->second;
  }

 private:
  std::unordered_map<std::string_view, std::uint32_t> known_;
  std::uint32_t next_ = 0;
};

/// The names as numbers, for reports; the positions if a name is no number.
std::vector<std::uint64_t> ids_of(const std::vector<Clock>& clocks) {
  std::vector<std::uint64_t> ids(clocks.size());
  std::iota(ids.begin(), ids.end(), std::uint64_t{0});
  std::vector<std::uint64_t> numbers = ids;
  for (std::size_t c = 0; c < clocks.size(); ++c) {
    const std::string& name = clocks[c].name;
    std::from_chars(name.data(), name.data() + name.size(), numbers[c]);
    if (fmt::format("{}", numbers[c]) != name) return ids;
  }
  return numbers;
}

/// Granule of a timer: greatest common divisor of the distances of its stamps. 0 for few stamps.
std::uint64_t granule_of(std::span<const std::uint64_t> stamps) {
  constexpr std::size_t k_least_stamps = 32;
  if (stamps.size() < k_least_stamps) return 0;
  std::uint64_t step = 0;
  for (std::size_t i = 1; i < stamps.size() && step != 1; ++i) {
    step = std::gcd(step, stamps[i] - stamps[i - 1]);
  }
  return step;
}

trace::LocationSkeleton skeleton_of(const Clock& clock, std::span<const std::uint64_t> stamps) {
  trace::LocationSkeleton skeleton;
  skeleton.event_count = stamps.size() + (clock.events ? 1 : 0);
  skeleton.events.reserve(stamps.size());
  for (const std::uint64_t stamp : stamps) {
    skeleton.events.push_back({.time = stamp, .kind = trace::EventKind::edge_end});
  }
  if (!stamps.empty()) {
    skeleton.first = stamps.front();
    skeleton.last = stamps.back();
  }
  if (clock.events) {
    const auto& [first, last] = *clock.events;
    skeleton.first = stamps.empty() ? first : std::min(first, skeleton.first);
    skeleton.last = stamps.empty() ? last : std::max(last, skeleton.last);
  }
  skeleton.granule = clock.granule > 0 ? clock.granule : granule_of(stamps);
  for (const StampRange& flush : clock.flushes) {
    skeleton.flushes.push_back({flush.first, flush.last});
  }
  for (const ClockSession& session : clock.sessions) {
    skeleton.clock_offsets.push_back({session.time, session.offset, session.half_width});
  }
  return skeleton;
}

}  // namespace

trace::Definitions definitions_of(const Clocks& clocks) {
  trace::Definitions definitions;
  definitions.clock.resolution_hz = clocks.resolution_hz;
  if (clocks.corrected) definitions.properties.push_back({trace::k_property_correction, ""});
  const std::vector<std::uint64_t> ids = ids_of(clocks.clocks);
  Numbers processes, machines, domains;
  std::vector<std::uint32_t> machine_of_process;
  const bool any_domain =
      std::ranges::any_of(clocks.clocks, [](const Clock& clock) { return !clock.domain.empty(); });
  for (std::size_t i = 0; i < clocks.clocks.size(); ++i) {
    const Clock& clock = clocks.clocks[i];
    const std::uint32_t process = processes.of(clock.process);
    if (process == definitions.location_groups.size()) {
      const std::string& name = clock.process.empty() ? clock.name : clock.process;
      definitions.location_groups.push_back({.id = process, .name = name});
      machine_of_process.push_back(machines.of(clock.machine));
    }
    definitions.locations.push_back({.id = ids[i],
                                     .name = clock.name,
                                     .type = trace::LocationType::cpu_thread,
                                     .group = process});
    definitions.process_of.push_back(process);
    definitions.node_of.push_back(clock.machine.empty() ? machine_of_process[process]
                                                        : machines.of(clock.machine));
    if (any_domain) {
      definitions.known_clocks.push_back(clock.domain.empty() ? k_none : domains.of(clock.domain));
    }
  }
  return definitions;
}

std::vector<trace::LocationSkeleton> skeletons_of(const Clocks& clocks, const match::Graph& graph) {
  std::vector<trace::LocationSkeleton> skeletons;
  for (std::size_t l = 0; l < clocks.clocks.size(); ++l) {
    const NodeIndex first = graph.first_node[l], end = graph.first_node[l + 1];
    skeletons.push_back(
        skeleton_of(clocks.clocks[l], std::span(graph.stamp).subspan(first, end - first)));
  }
  return skeletons;
}

std::map<LocationIndex, clocks::LocationSamples> exchanges_of(const Clocks& clocks) {
  std::map<LocationIndex, clocks::LocationSamples> all;
  for (LocationIndex l = 0; l < clocks.clocks.size(); ++l) {
    const auto& sessions = clocks.clocks[l].sessions;
    if (std::ranges::all_of(sessions, &std::vector<ClockExchange>::empty,
                            &ClockSession::exchanges)) {
      continue;
    }
    clocks::LocationSamples& samples = all[l];
    for (const ClockSession& session : sessions) {
      samples.emplace_back();
      for (const ClockExchange& one : session.exchanges) {
        samples.back().push_back({one.time, one.offset, one.round_trip, one.kept});
      }
    }
  }
  return all;
}

Clocks clocks_of(const trace::Trace& trace,
                 const std::map<LocationIndex, clocks::LocationSamples>& exchanges) {
  const trace::Definitions& definitions = trace.definitions;
  Clocks clocks;
  clocks.name = trace.path;
  clocks.resolution_hz = definitions.clock.resolution_hz;
  clocks.corrected = trace::find_property(definitions, trace::k_property_correction) != nullptr;
  const std::vector<std::uint32_t> known = trace::proved_clocks(definitions);
  std::map<std::string, std::uint32_t> process_of_name;
  for (LocationIndex l = 0; l < definitions.locations.size(); ++l) {
    const trace::LocationSkeleton& skeleton = trace.locations[l];
    Clock clock;
    clock.name = fmt::format("{}", definitions.locations[l].id);
    const std::uint32_t process = definitions.process_of[l];
    clock.process = trace::process_name(definitions, l);
    const auto [same, is_new] = process_of_name.emplace(clock.process, process);
    if (clock.process.empty() || same->second != process) {
      clock.process += fmt::format("#{}", process);
    }
    clock.machine = fmt::format("{}", definitions.node_of[l]);
    if (!known.empty() && known[l] != k_none) clock.domain = fmt::format("{}", known[l]);
    if (skeleton.event_count > 0) clock.events = {skeleton.first, skeleton.last};
    clock.granule = skeleton.granule;
    for (const trace::FlushInterval& flush : skeleton.flushes) {
      clock.flushes.push_back({flush.begin, flush.end});
    }
    const auto samples = exchanges.find(l);
    for (std::size_t k = 0; k < skeleton.clock_offsets.size(); ++k) {
      const trace::ClockOffset& record = skeleton.clock_offsets[k];
      clock.sessions.push_back({record.time, record.offset, record.stddev, {}});
      if (samples == exchanges.end()) continue;
      for (const clocks::Sample& one : samples->second[k]) {
        clock.sessions.back().exchanges.push_back(
            {one.local, one.offset, one.round_trip, one.kept});
      }
    }
    clocks.clocks.push_back(std::move(clock));
  }
  return clocks;
}

}  // namespace entrain::formats
