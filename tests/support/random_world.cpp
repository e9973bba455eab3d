// SPDX-License-Identifier: BSD-3-Clause
#include "support/random_world.hpp"

#include <cmath>
#include <numbers>
#include <string>

namespace entrain::test {

World::World(const TracePlan& the_plan) : plan(the_plan), rng(the_plan.seed) {
  plan.processes = std::max(plan.processes, 1u);
  plan.threads = std::max(plan.threads, 1u);
  plan.processes_per_node = std::max(plan.processes_per_node, 1u);
  plan.granule_ticks = std::max<std::uint64_t>(plan.granule_ticks, 1);
  plan.tags = std::max(plan.tags, 1u);
  define_locations();
  define_comms();
  const std::size_t locations = definitions.locations.size();
  streams.resize(locations);
  now.resize(locations);
  for (auto& time : now) time = static_cast<TrueTime>(rng.below(100)) * k_tick;

  clocks_.resize(locations);  // at most one per location
  for (Clock& clock : clocks_) {
    clock.offset = std::floor(static_cast<double>(plan.offset_ticks) * rng.symmetric());
    clock.drift = plan.drift_ppm * 1e-6 * rng.symmetric();
    clock.wander = plan.wander_ppm * 1e-6 * rng.real();
    clock.phase = 2 * std::numbers::pi * rng.real();
  }
}

void World::define_locations() {
  const std::uint32_t count = plan.processes * plan.threads;
  std::vector<LocationIndex> position(count);
  for (std::uint32_t i = 0; i < count; ++i) position[i] = i;
  if (plan.shuffle_locations) rng.shuffle(position);
  definitions.locations.resize(count);
  definitions.process_of.resize(count);
  definitions.node_of.resize(count);
  definitions.tree_nodes.push_back({0, "machine", "machine", k_none, false});
  members.resize(plan.processes);
  for (std::uint32_t process = 0; process < plan.processes; ++process) {
    const std::uint32_t node = process / plan.processes_per_node;
    if (process % plan.processes_per_node == 0) {
      definitions.tree_nodes.push_back({node + 1, "node" + std::to_string(node), "node", 0, true});
    }
    definitions.location_groups.push_back(
        {process, "MPI Rank " + std::to_string(process), k_none, node + 1});
    for (std::uint32_t thread = 0; thread < plan.threads; ++thread) {
      const LocationIndex location = position[process * plan.threads + thread];
      definitions.locations[location] = {(std::uint64_t{thread} << 32) | process,
                                         "thread " + std::to_string(thread),
                                         trace::LocationType::cpu_thread, 0, process};
      definitions.process_of[location] = process;
      definitions.node_of[location] = node;
      members[process].push_back(location);
    }
    master.push_back(members[process].front());
  }
}

CommIndex World::add_comm(trace::Comm comm) {
  comm.id = static_cast<std::uint32_t>(definitions.comms.size()) * 3 + 7;
  definitions.comms.push_back(std::move(comm));
  return static_cast<CommIndex>(definitions.comms.size() - 1);
}

void World::define_comms() {
  mpi_comms.push_back(add_comm({k_none, "MPI_COMM_WORLD", false, false, master, {}}));
  self_comm = add_comm({k_none, "MPI_COMM_SELF", false, true, {}, {}});
  for (std::uint32_t i = 0; i < plan.sub_comms; ++i) {
    std::vector<LocationIndex> ranks = master;
    rng.shuffle(ranks);
    ranks.resize(1 + rng.below(ranks.size()));
    mpi_comms.push_back(add_comm({k_none, "sub", false, false, std::move(ranks), {}}));
  }
  for (std::uint32_t i = 0; i < plan.inter_comms && plan.processes >= 2; ++i) {
    std::vector<LocationIndex> ranks = master;
    rng.shuffle(ranks);
    const std::size_t a = 1 + rng.below(ranks.size() - 1);
    const std::size_t b = 1 + rng.below(ranks.size() - a);
    const auto middle = ranks.begin() + static_cast<std::ptrdiff_t>(a);
    inter_comms.push_back(add_comm({k_none,
                                    "inter",
                                    true,
                                    false,
                                    {ranks.begin(), middle},
                                    {middle, middle + static_cast<std::ptrdiff_t>(b)}}));
  }
  for (std::uint32_t process = 0; process < plan.processes; ++process) {
    team.push_back(add_comm({k_none, "team", false, false, members[process], {}}));
  }
  for (const CommIndex comm : mpi_comms) definitions.windows.push_back({comm + 100, "win", comm});
}

Ref World::append(LocationIndex location, trace::Event event, TrueTime earliest) {
  TrueTime gap = 0;
  if (!rng.chance(plan.zero_gap)) {
    gap = static_cast<TrueTime>(
        rng.below(2 * static_cast<std::uint64_t>(plan.gap_ticks * k_tick) + 1));
  }
  now[location] = std::max(now[location] + gap, earliest);
  streams[location].push_back({now[location], event});
  return {location, static_cast<std::uint32_t>(streams[location].size() - 1)};
}

void World::edge(Ref send, Ref receive, EdgeKind kind) {
  if (send.location != receive.location) edges.push_back({send, receive, kind});
}

TrueTime World::latency(LocationIndex a, LocationIndex b) {
  TrueTime least = plan.latency_ticks * k_tick;
  if (definitions.process_of[a] == definitions.process_of[b]) {
    least = 0;
  } else if (definitions.node_of[a] == definitions.node_of[b]) {
    least /= 2;
  }
  return least + static_cast<TrueTime>(
                     rng.below(static_cast<std::uint64_t>(plan.latency_ticks * k_tick) + 1));
}

std::size_t World::domain_of(LocationIndex location) const {
  switch (plan.domain) {
    case ClockDomain::location:
      return location;
    case ClockDomain::process:
      return definitions.process_of[location];
    case ClockDomain::node:
      return definitions.node_of[location];
  }
  return location;
}

double World::clock_offset(LocationIndex location) const {
  return clocks_[domain_of(location)].offset;
}

double World::clock(LocationIndex location, TrueTime time) const {
  const Clock& clock = clocks_[domain_of(location)];
  const double x = static_cast<double>(time) / static_cast<double>(k_tick);
  const double omega = 2 * std::numbers::pi /
                       static_cast<double>(std::max<std::int64_t>(plan.wander_period_ticks, 1));
  const double wander =
      clock.wander / omega * (std::sin(omega * x + clock.phase) - std::sin(clock.phase));
  return x + clock.offset + clock.drift * x + wander;
}

}  // namespace entrain::test
