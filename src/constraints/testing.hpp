// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "base/team.hpp"
#include "constraints/context.hpp"
#include "trace/clock_domains.hpp"
#include "trace/testing.hpp"

namespace entrain::constraints::testing {

/// A trace that one process holds as a whole, with its edges.
class WholeTrace {
 public:
  explicit WholeTrace(trace::Trace trace, const MuTicks& mu = {})
      : trace_(std::move(trace)),
        partition_(trace::undivided(trace_.definitions)),
        graph_(match::build_graph(trace_, {})),
        mu_(mu) {}
  WholeTrace(const WholeTrace&) = delete;
  WholeTrace& operator=(const WholeTrace&) = delete;

  [[nodiscard]] const trace::Trace& trace() const { return trace_; }
  [[nodiscard]] trace::Share share() { return {solo_, partition_, trace_}; }
  [[nodiscard]] Context context() {
    return {.share = share(),
            .graph = graph_,
            .mu = mu_,
            .prior = clocks::rate_prior(share()),
            .threads = 1,
            .progress = nullptr};
  }
  /// Domains with one clock per process.
  [[nodiscard]] trace::ClockDomains processes() const {
    return trace::domains_by(trace_.definitions.process_of);
  }

 private:
  Solo solo_;
  trace::Trace trace_;
  trace::Partition partition_;
  match::Graph graph_;
  MuTicks mu_;
};

}  // namespace entrain::constraints::testing
