// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>

#include "base/big_vector.hpp"
#include "constraints/context.hpp"
#include "difference/system.hpp"
#include "trace/clock_domains.hpp"

namespace entrain::causal {

/// Edges and exchanges of a graph that some maps have broken, as difference constraints of the
/// clocks: the constraints of a trace are many, and few of them matter. Clocks are domains; edges
/// inside a domain are left out, since no map can mend them. The same at every process.
class BrokenEdges {
 public:
  /// `base`: stamp that the stamps of the constraints count from. `least`: least latency that the
  /// constraints ask for, ticks. Collective.
  BrokenEdges(const constraints::Context& context, const trace::ClockDomains& domains,
              std::uint64_t base, std::int64_t least);

  /// Adds what `maps` (one per domain) break and is not yet here: all that arrives earlier than mu
  /// and `margin` ticks after it was sent. False if there is none. Collective.
  bool add(std::span<const ClockMap> maps, std::int64_t margin);

  /// Constraints by single edges.
  [[nodiscard]] std::span<const difference::Edge> edges() const { return edges_; }
  /// Begins and ends of collectives.
  [[nodiscard]] std::span<const difference::Event> events() const { return events_; }
  /// Constraints by collectives. `events`: those of events(), at any times; they must outlive what
  /// is returned.
  [[nodiscard]] std::vector<difference::Instance> instances(
      std::span<const difference::Event> events) const;

 private:
  class Expansion;
  /// A begin or an end of an instance. The first one of each tells the numbers of both.
  struct Member {
    difference::Event event;
    std::int64_t delay = 0;
    std::uint32_t begins = 0, ends = 0;
  };

  [[nodiscard]] difference::Event event_of(NodeIndex node, LocationIndex location) const;

  const constraints::Context& context_;
  const trace::ClockDomains& domains_;
  std::uint64_t base_;
  std::int64_t least_;
  BigVector<std::int64_t> times_;          ///< times of the nodes by the maps at hand
  BigVector<std::int64_t> ghost_stamps_;   ///< stamps of the ghosts of the graph
  BigVector<std::uint8_t> has_edge_;       ///< one per edge of the graph: it was taken
  BigVector<std::uint8_t> has_exchange_;   ///< one per exchange of the graph: it was taken
  std::vector<difference::Edge> edges_;    ///< those of all processes
  std::vector<Member> members_;            ///< members of all instances, of all processes
  std::vector<difference::Event> events_;  ///< their events
};

}  // namespace entrain::causal
