// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <rapidcheck.h>

#include "clc/testing.hpp"
#include "match/graph.hpp"
#include "support/random_plan.hpp"
#include "support/random_trace.hpp"
#include "support/reference_clc.hpp"

namespace entrain::test {

inline match::Graph graph_of(const RandomTrace& random, const TracePlan& plan) {
  return match::build_graph(random.trace, {plan.dense_alltoallv, plan.init_finalize, true});
}

/// All happened-before pairs of a graph, exchanges expanded; sorted.
inline std::vector<TrueEdge> expanded(const match::Graph& graph) {
  const std::vector<ClockMap> identity(graph.location_count());
  std::vector<LocationIndex> location_of;
  for (LocationIndex l = 0; l < graph.location_count(); ++l) {
    location_of.insert(location_of.end(), graph.first_node[l + 1] - graph.first_node[l], l);
  }
  std::vector<TrueEdge> edges;
  for (const ReferencePair& pair : reference_problem(graph, identity).pairs) {
    edges.push_back({location_of[pair.send], graph.stamp[pair.send], location_of[pair.receive],
                     graph.stamp[pair.receive], pair.kind});
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

inline rc::Gen<MuTicks> any_mu() {
  return rc::gen::element(MuTicks{0, 0, 0}, MuTicks{1, 1, 1}, MuTicks{0, 2, 7},
                          MuTicks{5, 50, 500});
}

inline rc::Gen<std::int64_t> any_gamma() {
  return rc::gen::element<std::int64_t>(990'000'000, 900'000'000, 999'000'000, 999'990'000,
                                        1'000'000'000, 500'000'000, 123'456'789);
}

inline rc::Gen<std::int64_t> any_slope() {
  return rc::gen::element<std::int64_t>(10'000'000, 1'000'000, 100'000'000, 333'333'333);
}

/// A plan whose clocks violate something most of the time.
inline rc::Gen<TracePlan> skewed_plan(int max_processes = 8, int max_steps = 200) {
  return rc::gen::map(any_plan(max_processes, max_steps), [](TracePlan plan) {
    if (plan.offset_ticks < 20) plan.offset_ticks = 20 + plan.offset_ticks * 10;
    return plan;
  });
}

/// A random trace, corrected by the product, with everything the reference needs to judge it.
struct Corrected {
  TracePlan plan;
  RandomTrace random;
  match::Graph graph;
  ReferenceProblem problem;
  ReferenceCycles cycles;
  clc::Options options;
  clc::Amortization result;
};

/// The gammas of a correction, per location, billionths.
inline std::vector<std::int64_t> gammas_of(const Corrected& c) {
  std::vector<std::int64_t> gammas(c.problem.locations(), c.result.gamma.billionths);
  for (std::size_t l = 0; l < c.result.gamma_of.size(); ++l) {
    gammas[l] = c.result.gamma_of[l].billionths;
  }
  return gammas;
}

/// Runs the correction; fails the property if it reports an error.
inline Corrected correct(const TracePlan& plan, const clc::Options& options) {
  Corrected corrected;
  corrected.plan = plan;
  corrected.random = random_trace(plan);
  corrected.graph = graph_of(corrected.random, plan);
  corrected.problem = reference_problem(corrected.random, options.mu_ticks);
  corrected.cycles = reference_cycles(corrected.problem);
  corrected.options = options;
  auto result =
      clc::amortize(corrected.graph, corrected.random.trace, corrected.random.presync, options);
  if (!result) RC_FAIL(result.error().message);
  corrected.result = std::move(*result);
  return corrected;
}

}  // namespace entrain::test
