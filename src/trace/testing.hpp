// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "trace/share.hpp"
#include "trace/trace.hpp"

/// Hand-made traces for unit tests.
namespace entrain::trace::testing {

/// Builds a trace event by event. Location p * threads + t is thread t of process p; its OTF2 id
/// is 100 + that number. Communicator 0 is the world of all processes (their thread 0).
class TraceBuilder {
 public:
  explicit TraceBuilder(std::uint32_t processes, std::uint32_t threads = 1,
                        std::uint32_t processes_per_node = 1) {
    trace_.path = "hand-made";
    Definitions& definitions = trace_.definitions;
    Comm world;
    for (std::uint32_t p = 0; p < processes; ++p) {
      LocationGroup group;
      group.id = p;
      group.name = "MPI Rank " + std::to_string(p);
      definitions.location_groups.push_back(group);
      world.group_a.push_back(p * threads);
      for (std::uint32_t t = 0; t < threads; ++t) {
        Location location;
        location.id = 100 + definitions.locations.size();
        location.group = p;
        definitions.locations.push_back(location);
        definitions.process_of.push_back(p);
        definitions.node_of.push_back(p / processes_per_node);
      }
    }
    definitions.comms.push_back(world);
    definitions.clock.resolution_hz = 1'000'000;
    trace_.locations.resize(definitions.locations.size());
  }

  Trace& trace() {
    store_events();
    return trace_;
  }
  [[nodiscard]] const Trace& trace() const {
    store_events();
    return trace_;
  }

  /// Adds a communicator and returns its index.
  std::uint32_t comm(std::vector<LocationIndex> members) {
    trace_.definitions.comms.push_back({});
    trace_.definitions.comms.back().group_a = std::move(members);
    return static_cast<std::uint32_t>(trace_.definitions.comms.size() - 1);
  }
  std::uint32_t inter_comm(std::vector<LocationIndex> a, std::vector<LocationIndex> b) {
    const std::uint32_t index = comm(std::move(a));
    trace_.definitions.comms[index].inter = true;
    trace_.definitions.comms[index].group_b = std::move(b);
    return index;
  }
  std::uint32_t self_comm() {
    const std::uint32_t index = comm({});
    trace_.definitions.comms[index].self = true;
    return index;
  }
  std::uint32_t window(std::uint32_t comm) {
    trace_.definitions.windows.push_back({});
    trace_.definitions.windows.back().comm = comm;
    return static_cast<std::uint32_t>(trace_.definitions.windows.size() - 1);
  }
  std::uint32_t group(std::vector<LocationIndex> members) {
    trace_.definitions.groups.push_back({});
    trace_.definitions.groups.back().members = std::move(members);
    return static_cast<std::uint32_t>(trace_.definitions.groups.size() - 1);
  }

  /// Appends an event; the other fields of the result may be set until trace() is called.
  Event& add(LocationIndex location, std::uint64_t time, EventKind kind) {
    auto& skeleton = trace_.locations[location];
    if (skeleton.event_count++ == 0) skeleton.first = time;
    skeleton.last = time;
    Event& event = added_.emplace_back(location, Event{}).second;
    event.time = time;
    event.kind = kind;
    return event;
  }

  void message(EventKind kind, LocationIndex location, std::uint64_t time, std::uint32_t peer,
               std::uint32_t tag = 0, std::uint64_t id = 0, std::uint32_t comm = 0) {
    Event& event = add(location, time, kind);
    event.peer = peer;
    event.tag = tag;
    event.id = id;
    event.comm = comm;
  }
  void request(EventKind kind, LocationIndex location, std::uint64_t time, std::uint64_t id) {
    add(location, time, kind).id = id;
  }

  /// A blocking call: begin and end. Both byte counts are positive unless `flags` says otherwise.
  void collective(LocationIndex location, std::uint64_t begin, std::uint64_t end, std::uint8_t op,
                  std::uint32_t root = k_root_none, std::uint32_t comm = 0,
                  std::uint8_t flags = k_sent | k_received) {
    add(location, begin, EventKind::collective_begin);
    collective_end(EventKind::collective_end, location, end, op, root, comm, flags);
  }
  /// The same for an Alltoallv whose partners are known: ranks, rising.
  void exchange(LocationIndex location, std::uint64_t begin, std::uint64_t end,
                const std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& from) {
    add(location, begin, EventKind::collective_begin);
    Event& event = collective_end(EventKind::collective_end, location, end, op::alltoallv);
    event.flags = static_cast<std::uint8_t>(k_partners | (to.empty() ? 0 : k_sent) |
                                            (from.empty() ? 0 : k_received));
    event.peer = static_cast<std::uint32_t>(trace_.definitions.partners.size());
    trace_.definitions.partners.push_back({rank_set(to), rank_set(from)});
  }
  Event& collective_end(EventKind kind, LocationIndex location, std::uint64_t time, std::uint8_t op,
                        std::uint32_t root = k_root_none, std::uint32_t comm = 0,
                        std::uint8_t flags = k_sent | k_received) {
    Event& event = add(location, time, kind);
    event.op = op;
    event.peer = root;
    event.comm = comm;
    event.flags = flags;
    return event;
  }

 private:
  std::uint32_t rank_set(const std::vector<std::uint32_t>& ranks) {
    RankSet set;
    for (const std::uint32_t rank : ranks) set.add(rank, rank);
    auto& sets = trace_.definitions.rank_sets;
    auto known = std::find(sets.begin(), sets.end(), set);
    if (known == sets.end()) known = sets.insert(sets.end(), set);
    return static_cast<std::uint32_t>(known - sets.begin());
  }

  void store_events() const {
    static std::mutex mutex;  // members of a team ask for the trace side by side
    const std::lock_guard lock(mutex);
    for (const auto& [location, event] : added_) trace_.locations[location].events.push_back(event);
    added_.clear();
  }

  mutable Trace trace_;
  mutable std::deque<std::pair<LocationIndex, Event>> added_;  ///< not in the trace yet
};

/// Changes the events of a location: `change` gets all of them as a vector.
template <class Change>
void change_events(LocationSkeleton& location, Change change) {
  std::vector<Event> events(location.events.begin(), location.events.end());
  change(events);
  location.events = EventList(events);
}

/// A trace made by hand, all of it in this process.
inline LoadedTrace loaded_of(const TraceBuilder& builder) {
  LoadedTrace loaded;
  loaded.trace = builder.trace();
  loaded.partition = undivided(loaded.trace.definitions);
  return loaded;
}

}  // namespace entrain::trace::testing
