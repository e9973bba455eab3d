// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <entrain/entrain.hpp>

#include "base/team.hpp"
#include "bounds/prove.hpp"
#include "causal/bend.hpp"
#include "causal/clock_domains.hpp"
#include "formats/otf2/testing.hpp"
#include "sim/model/distort.hpp"
#include "trace/testing.hpp"

namespace entrain::bounds::testing {

inline trace::ClockDomains processes_of(const trace::LoadedTrace& loaded) {
  return trace::domains_by(loaded.trace.definitions.process_of);
}

/// The same events with clocks of their own, and sessions as they were measured.
inline trace::LoadedTrace distorted(const trace::LoadedTrace& truth, const DistortOptions& options,
                                    bool sessions) {
  const std::vector<ClockMap> identity(truth.trace.locations.size());
  auto wrong = sim::distort(truth.trace, identity, options);
  EXPECT_TRUE(wrong) << wrong.error().message;
  trace::LoadedTrace result;
  result.trace = truth.trace;
  result.partition = truth.partition;
  for (LocationIndex l = 0; l < result.trace.locations.size(); ++l) {
    trace::LocationSkeleton& location = result.trace.locations[l];
    const ClockMap& map = wrong->maps[l];
    const auto moved = [&](std::uint64_t t) { return static_cast<std::uint64_t>(map(t)); };
    trace::testing::change_events(location, [&](auto& events) {
      for (trace::Event& event : events) event.time = moved(event.time);
    });
    location.first = moved(location.first);
    location.last = moved(location.last);
    location.flushes.clear();
    location.clock_offsets.clear();
    if (sessions) location.clock_offsets = wrong->clock_offsets[l];
  }
  return result;
}

/// A presynchronised trace, and what is proved of its clocks.
struct Proof {
  clocks::Presynchronised presync;
  match::Graph graph;
  ProvenIntervals proven;
  ClockBounds bounds;
};

inline Proof prove(const trace::LoadedTrace& loaded, Presync method, BoundsOption option = {},
                   const MuTicks& mu = {}) {
  Proof proof;
  Solo solo;
  auto presync = clocks::presynchronise(loaded.trace, method);
  EXPECT_TRUE(presync) << presync.error().message;
  proof.presync = std::move(*presync);
  proof.graph = match::build_graph(loaded.trace, {});
  const constraints::Context context{.share = loaded.share(solo), .graph = proof.graph, .mu = mu};
  if (method == Presync::causal) {
    EXPECT_TRUE(causal::bend_by_edges(context, processes_of(loaded), proof.presync));
  }
  auto proven = prove_intervals(context, processes_of(loaded), proof.presync, option);
  EXPECT_TRUE(proven) << proven.error().message;
  proof.proven = std::move(*proven);
  proof.bounds = judge(loaded.share(solo), proof.proven, proof.presync.maps, true);
  return proof;
}

inline std::int64_t worst_of(const ClockBounds& bounds) {
  std::int64_t worst = 0;
  for (const LocationBounds& location : bounds.locations) {
    worst = std::max(worst, location.worst_ticks);
  }
  return worst;
}

inline std::int64_t outside(const ClockBounds& bounds) {
  std::int64_t outside = 0;
  for (const LocationBounds& location : bounds.locations) {
    outside = std::max(outside, location.outside_ticks);
  }
  return outside;
}

}  // namespace entrain::bounds::testing
