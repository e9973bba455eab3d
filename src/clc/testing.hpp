// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <entrain/progress.hpp>

#include "clc/amortize.hpp"
#include "clc/flow_forward.hpp"
#include "clc/forward.hpp"
#include "clc/team_cycles.hpp"
#include "match/graph.hpp"
#include "trace/testing.hpp"

/// Helpers of the unit tests of forward amortization.
namespace entrain::clc::testing {

using Times = std::vector<std::int64_t>;

inline constexpr Decimal9 k_gamma_09{900'000'000};
inline constexpr Decimal9 k_gamma_099{990'000'000};
inline constexpr Decimal9 k_gamma_1{1'000'000'000};
inline constexpr MuTicks k_mu_10{10, 10, 10};

/// A graph with all that forward amortization needs. C are the stored stamps, unless it is changed.
struct Problem {
  match::Graph graph;
  Cycles cycles = {};
  Times presync = {};
  std::vector<std::int64_t> deltas = {};

  explicit Problem(match::Graph g)
      : graph(std::move(g)), presync(graph.stamp.begin(), graph.stamp.end()) {}
  explicit Problem(const trace::testing::TraceBuilder& b, const match::Options& options = {})
      : Problem(match::build_graph(b.trace(), options)) {}
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  /// Refers to this.
  ForwardProblem with(const MuTicks& mu, std::int64_t delta = 0, unsigned threads = 1) {
    deltas.assign(delta > 0 ? graph.location_count() : 0, delta);
    return {.graph = graph,
            .cycles = cycles,
            .presync = presync,
            .mu = mu,
            .delta = deltas,
            .threads = threads,
            .cancel = Cancel(nullptr)};
  }
};

/// Ties or cuts the cycles of a whole graph whose times are its stamps.
inline Cycles settle_alone(match::Graph& graph) {
  const Times times(graph.stamp.begin(), graph.stamp.end());
  const trace::Partition all{std::vector<std::uint32_t>(graph.location_count(), 0)};
  const trace::Trace none;
  Solo solo;
  return settle_cycles({solo, all, none}, graph, times,
                       std::span(graph.first_node).first(graph.location_count()))
      .value();
}

/// Passes that the data-flow of a member alone makes. Its graph has no halo, as those of edge
/// lists.
inline Result<std::vector<ForwardTimes>> flow_alone(const ForwardProblem& problem,
                                                    std::span<const Decimal9> gammas) {
  problem.graph.halo = {};
  Solo solo;
  const trace::Trace none;
  const trace::Partition all{std::vector<std::uint32_t>(problem.graph.location_count(), 0)};
  return flow_forward({solo, all, none}, problem)(gammas);
}
inline ForwardTimes flow_alone(const ForwardProblem& problem, Decimal9 gamma) {
  return flow_alone(problem, std::span(&gamma, 1)).value().at(0);
}

/// Passes are equal in every respect.
inline bool equal(const ForwardTimes& a, const ForwardTimes& b) {
  return a.times == b.times && a.jump == b.jump && a.jumps == b.jumps && a.error == b.error &&
         a.overflow == b.overflow;
}

/// A user who wants to stop from the start.
struct Stop final : Progress {
  void begin(std::string_view, std::uint64_t, std::string_view) override {}
  void advance(std::uint64_t) override {}
  [[nodiscard]] bool cancelled() const override { return true; }
};

/// The trace of the example at Forward: A sends to B, and B to C.
inline trace::testing::TraceBuilder worked_example() {
  using K = trace::EventKind;
  trace::testing::TraceBuilder b(3);
  b.message(K::send, 0, 1000, 1);
  b.message(K::recv, 1, 960, 0);
  b.message(K::send, 1, 1160, 2);
  b.message(K::recv, 2, 1200, 1);
  b.request(K::irecv_request, 2, 2200, 1);
  b.request(K::irecv_request, 2, 3000, 2);
  return b;
}

}  // namespace entrain::clc::testing

namespace entrain::clc {

/// The correction of a whole trace in a team of one.
inline Result<Amortization> amortize(match::Graph graph, const trace::Trace& trace,
                                     std::span<const ClockMap> presync, const Options& options) {
  Solo solo;
  const trace::Partition whole{std::vector<std::uint32_t>(trace.locations.size(), 0)};
  return amortize(trace::Share{solo, whole, trace}, std::move(graph), presync, options);
}

}  // namespace entrain::clc
