// SPDX-License-Identifier: BSD-3-Clause
#include "support/random_trace.hpp"

#include <cmath>
#include <ostream>
#include <stdexcept>
#include <string>

#include "support/random_world.hpp"

namespace entrain::test {

namespace {

using trace::EventKind;

void run_program(World& world) {
  const OperationMix& mix = world.plan.mix;
  PointToPoint p2p(world);
  Collectives collectives(world);
  Threads threads(world);
  const int weights[] = {mix.blocking,      mix.nonblocking, mix.cancel, mix.collective,
                         mix.nb_collective, mix.team,        mix.create, mix.rma};
  int total = 0;
  for (const int weight : weights) total += weight;
  if (world.plan.init_finalize) {
    collectives.init_finalize(EventKind::init_enter, EventKind::init_leave);
  }
  for (std::uint32_t step = 0; step < world.plan.steps && total > 0; ++step) {
    auto choice = static_cast<int>(world.rng.below(static_cast<std::uint64_t>(total)));
    std::size_t operation = 0;
    while (choice >= weights[operation]) choice -= weights[operation++];
    switch (operation) {
      case 0:
        p2p.blocking();
        break;
      case 1:
        p2p.nonblocking();
        break;
      case 2:
        p2p.cancel();
        break;
      case 3:
        collectives.blocking();
        break;
      case 4:
        collectives.nonblocking();
        break;
      case 5:
        threads.parallel_region();
        break;
      case 6:
        threads.create_and_wait();
        break;
      default:
        collectives.rma();
    }
  }
  p2p.finish();
  collectives.finish();
  if (world.plan.init_finalize) {
    collectives.init_finalize(EventKind::finalize_enter, EventKind::finalize_leave);
  }
}

/// Turns true times into stored stamps, and true order into edges between stamps.
void observe(World& world, RandomTrace& result) {
  const TracePlan& plan = world.plan;
  const std::uint64_t granule = plan.granule_ticks;
  const std::uint64_t base = static_cast<std::uint64_t>(plan.base_ticks) / granule * granule;
  std::vector<std::vector<std::uint64_t>> stamps(world.streams.size());
  for (LocationIndex location = 0; location < world.streams.size(); ++location) {
    trace::LocationSkeleton& skeleton = result.trace.locations[location];
    for (const World::Stored& stored : world.streams[location]) {
      // Far enough above zero for the slowest clock, exact far from the epoch.
      const double shown =
          world.clock(location, stored.time) + static_cast<double>(plan.offset_ticks + 1000);
      const auto ticks = static_cast<std::uint64_t>(std::floor(shown));
      stamps[location].push_back(base + ticks / granule * granule);
      if (stored.deleted) continue;
      trace::Event event = stored.event;
      event.time = stamps[location].back();
      skeleton.events.push_back(event);
    }
    if (skeleton.events.empty()) continue;
    // Some records around that are no communication.
    skeleton.event_count = skeleton.events.size() + 2;
    skeleton.first = skeleton.events.time(0) - granule * world.rng.below(3);
    skeleton.last = skeleton.events.time(skeleton.events.size() - 1) + granule * world.rng.below(3);
    skeleton.granule = granule;
  }
  for (const World::Edge& edge : world.edges) {
    if (edge.deleted) continue;
    if (world.time(edge.send) > world.time(edge.receive)) {
      throw std::logic_error("random program: effect before cause in true time");
    }
    result.edges.push_back({edge.send.location, stamps[edge.send.location][edge.send.index],
                            edge.receive.location,
                            stamps[edge.receive.location][edge.receive.index], edge.kind});
  }
  std::sort(result.edges.begin(), result.edges.end());
}

/// Clock offsets measured at some moments, as a ClockMap; the identity where they do not increase.
ClockMap measured(World& world, LocationIndex location, TrueTime end) {
  const TracePlan& plan = world.plan;
  std::vector<ClockKnot> knots;
  for (std::uint32_t session = 0; session < plan.presync_sessions; ++session) {
    const TrueTime time =
        end / std::max(plan.presync_sessions - 1, 1u) * static_cast<TrueTime>(session);
    const double error =
        world.clock(location, time) - static_cast<double>(time) / static_cast<double>(k_tick);
    const double noise = static_cast<double>(plan.presync_noise_ticks) * world.rng.symmetric();
    const double shown =
        world.clock(location, time) + static_cast<double>(plan.offset_ticks + 1000);
    knots.push_back({static_cast<std::uint64_t>(plan.base_ticks) +
                         static_cast<std::uint64_t>(std::floor(shown)),
                     static_cast<std::int64_t>(std::llround(noise - error))});
  }
  const auto map = ClockMap::from_knots(std::move(knots));
  return map && map->is_monotone() ? *map : ClockMap();
}

}  // namespace

RandomTrace random_trace(const TracePlan& plan) {
  World world(plan);
  run_program(world);
  RandomTrace result = std::move(world.result);
  result.trace.path = "random seed " + std::to_string(plan.seed);
  result.trace.locations.resize(world.streams.size());
  observe(world, result);
  TrueTime end = 0;
  for (const TrueTime time : world.now) end = std::max(end, time);
  for (LocationIndex location = 0; location < world.streams.size(); ++location) {
    result.presync.push_back(measured(world, location, end));
    world.definitions.locations[location].event_count =
        result.trace.locations[location].event_count;
  }
  world.definitions.clock.resolution_hz = 1'000'000'000;
  result.trace.definitions = std::move(world.definitions);
  return result;
}

RandomTrace permuted(const RandomTrace& source, const std::vector<LocationIndex>& position) {
  RandomTrace result = source;
  trace::Definitions& definitions = result.trace.definitions;
  for (LocationIndex i = 0; i < position.size(); ++i) {
    const LocationIndex to = position[i];
    result.trace.locations[to] = source.trace.locations[i];
    result.presync[to] = source.presync[i];
    definitions.locations[to] = source.trace.definitions.locations[i];
    definitions.process_of[to] = source.trace.definitions.process_of[i];
    definitions.node_of[to] = source.trace.definitions.node_of[i];
  }
  const auto rename = [&](std::vector<LocationIndex>& members) {
    for (LocationIndex& member : members) member = position[member];
  };
  for (trace::Comm& comm : definitions.comms) {
    rename(comm.group_a);
    rename(comm.group_b);
  }
  for (trace::Group& group : definitions.groups) rename(group.members);
  for (TrueEdge& edge : result.edges) {
    edge.send_location = position[edge.send_location];
    edge.receive_location = position[edge.receive_location];
  }
  std::sort(result.edges.begin(), result.edges.end());
  return result;
}

std::ostream& operator<<(std::ostream& out, const TracePlan& p) {
  const OperationMix& m = p.mix;
  return out << "{.seed = " << p.seed << ", .processes = " << p.processes
             << ", .threads = " << p.threads << ", .processes_per_node = " << p.processes_per_node
             << ", .sub_comms = " << p.sub_comms << ", .inter_comms = " << p.inter_comms
             << ", .steps = " << p.steps << ",\n .mix = {" << m.blocking << ", " << m.nonblocking
             << ", " << m.cancel << ", " << m.collective << ", " << m.nb_collective << ", "
             << m.team << ", " << m.create << ", " << m.rma << "}, .tags = " << p.tags
             << ", .mpi_threads = " << p.mpi_threads << ", .wildcard = " << p.wildcard
             << ", .persistent = " << p.persistent
             << ", .shuffle_locations = " << p.shuffle_locations
             << ", .init_finalize = " << p.init_finalize
             << ", .dense_alltoallv = " << p.dense_alltoallv
             << ", .named_partners = " << p.named_partners << ", .unmatched = " << p.unmatched
             << ", .mismatched_collective = " << p.mismatched_collective
             << ",\n .gap_ticks = " << p.gap_ticks << ", .latency_ticks = " << p.latency_ticks
             << ", .zero_gap = " << p.zero_gap << ", .downhill = " << p.downhill
             << ", .domain = ClockDomain{" << static_cast<int>(p.domain)
             << "}, .base_ticks = " << p.base_ticks << ", .offset_ticks = " << p.offset_ticks
             << ", .drift_ppm = " << p.drift_ppm << ", .wander_ppm = " << p.wander_ppm
             << ", .wander_period_ticks = " << p.wander_period_ticks
             << ",\n .granule_ticks = " << p.granule_ticks
             << ", .presync_sessions = " << p.presync_sessions
             << ", .presync_noise_ticks = " << p.presync_noise_ticks << "}";
}

std::ostream& operator<<(std::ostream& out, const TrueEdge& edge) {
  return out << edge.send_location << "@" << edge.send_stamp << " -> " << edge.receive_location
             << "@" << edge.receive_stamp << " (" << static_cast<int>(edge.kind) << ")";
}

}  // namespace entrain::test
