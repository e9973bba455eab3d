// SPDX-License-Identifier: BSD-3-Clause
//
// Recorded truths with records taken out: how many of the true pairs are found, and how many wrong
// ones. Prints the figures, so that a change shows.
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "match/graph.hpp"
#include "session/load.hpp"
#include "sim/drop.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

/// Location and stamp of both ends.
using Ends = std::tuple<LocationIndex, std::uint64_t, LocationIndex, std::uint64_t>;

struct Edges {
  std::multiset<Ends> messages, calls;
};

Edges edges_of(const match::Graph& graph) {
  Edges edges;
  for (const match::Edge& edge : graph.edges) {
    if (edge.kind != EdgeKind::p2p) continue;
    edges.messages.emplace(graph.location_of(edge.send), graph.stamp[edge.send],
                           graph.location_of(edge.receive), graph.stamp[edge.receive]);
  }
  // Of an exchange the pairs of each receive with the first send and with the last one stand for
  // all: there are as many as receives.
  for (const match::Exchange& exchange : graph.exchanges) {
    const auto sends = graph.sends(exchange);
    for (const match::Participant& receive : graph.receives(exchange)) {
      for (const match::Participant& send : sends) {
        if (send.location == receive.location) continue;
        edges.calls.emplace(send.location, graph.stamp[send.node], receive.location,
                            graph.stamp[receive.node]);
      }
    }
  }
  return edges;
}

/// Stamps that a location has left, of events of one kind of use.
std::set<std::pair<LocationIndex, std::uint64_t>> stamps_of(const trace::Trace& trace) {
  std::set<std::pair<LocationIndex, std::uint64_t>> stamps;
  for (LocationIndex l = 0; l < trace.locations.size(); ++l) {
    for (const trace::Event& event : trace.locations[l].events) stamps.emplace(l, event.time);
  }
  return stamps;
}

struct Found {
  std::size_t true_left = 0, found = 0, wrong = 0, violated = 0;
};

Found compare(const std::multiset<Ends>& truth, const std::multiset<Ends>& found,
              const std::set<std::pair<LocationIndex, std::uint64_t>>& left) {
  Found result;
  for (const Ends& ends : truth) {
    result.true_left += left.contains({std::get<0>(ends), std::get<1>(ends)}) &&
                        left.contains({std::get<2>(ends), std::get<3>(ends)});
  }
  for (const Ends& ends : found) {
    const bool right = truth.contains(ends);
    result.found += right;
    result.wrong += !right;
    result.violated += std::get<3>(ends) < std::get<1>(ends);
  }
  return result;
}

struct Loss {
  std::string name;
  DropOptions options;
  double least;  ///< share of the pairs that must be found
};

std::vector<Loss> losses(std::uint64_t seed) {
  std::vector<Loss> all(3);
  all[0] = {"random 0.1 %", {}, 0.95};
  all[0].options.random = 0.001;
  all[1] = {"random 1 %", {}, 0.85};
  all[1].options.random = 0.01;
  all[2] = {"windows 10 % on a third", {}, 0.85};
  all[2].options.windows = {0.1, 1.0 / 3};
  for (Loss& loss : all) loss.options.seed = seed;
  return all;
}

void try_losses(const fs::path& path, std::uint64_t seeds) {
  const auto trace = session::load(path, 0, nullptr);
  ASSERT_TRUE(trace) << trace.error().message;
  const match::Options options;
  const Edges truth = edges_of(match::build_graph(trace->trace, options));
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    for (const Loss& loss : losses(seed)) {
      const auto dropped = sim::drop(trace->trace, loss.options);
      ASSERT_TRUE(dropped);
      const auto graph = match::build_graph(dropped->trace, options);
      const Edges edges = edges_of(graph);
      const auto left = stamps_of(dropped->trace);
      const Found m = compare(truth.messages, edges.messages, left);
      const Found c = compare(truth.calls, edges.calls, left);
      std::printf(
          "%-14s %-24s seed %llu: messages %6.2f %% of %zu, wrong %zu, violated %zu;  calls %6.2f "
          "%% of %zu, wrong %zu, violated %zu\n",
          path.filename().c_str(), loss.name.c_str(), static_cast<unsigned long long>(seed),
          100.0 * static_cast<double>(m.found) / static_cast<double>(m.true_left), m.true_left,
          m.wrong, m.violated,
          100.0 * static_cast<double>(c.found) / static_cast<double>(c.true_left), c.true_left,
          c.wrong, c.violated);
      EXPECT_GE(static_cast<double>(m.found), loss.least * static_cast<double>(m.true_left));
      EXPECT_LE(static_cast<double>(m.wrong), 1e-4 * static_cast<double>(m.found));
    }
  }
}

TEST(IncompletePairs, of_recorded_truths) {
  for (const char* name : {"lulesh-8.truth", "amg-8.truth", "allops-4.truth"}) {
    try_losses(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / name, 3);
  }
}
TEST(IncompletePairs, of_a_large_truth) {
  const fs::path path = "/tmp/hpcg/hpcg-16.truth";
  if (!fs::exists(path)) GTEST_SKIP() << "hpcg-16.truth is not there";
  try_losses(path, 1);
}

}  // namespace
}  // namespace entrain::test
