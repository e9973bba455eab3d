// SPDX-License-Identifier: BSD-3-Clause
//
// Recorded truths with records taken out: how many of the true pairs are found, and how many wrong
// ones. Prints the figures, so that a change shows.
#include <cstdio>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "formats/otf2/load.hpp"
#include "match/graph.hpp"
#include "sim/model/drop_testing.hpp"
#include "support/lockstep.hpp"

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
  std::size_t true_left = 0, found = 0, wrong = 0;
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
  }
  return result;
}

struct Loss {
  std::string name;
  DropOptions options;
  double least;            ///< share of the true pairs whose records are left that must be found
  double wrong;            ///< largest share of wrong pairs among those found
  double least_calls = 0;  ///< as `least`, of the pairs of calls
};

std::vector<Loss> losses(std::uint64_t seed) {
  std::vector<Loss> all(4);
  all[0] = {"random 0.1 %", {}, 0.95, 1e-4};
  all[0].options.random = 0.001;
  all[1] = {"random 1 %", {}, 0.8, 5e-4};
  all[1].options.random = 0.01;
  all[2] = {"windows 10 % on a third", {}, 0.85, 1e-4};
  all[2].options.windows = {0.1, 1.0 / 3};
  all[3] = {"tails 20 % on a half", {}, 0.85, 0};
  all[3].options.tail = {0.2, 0.5};
  for (Loss& loss : all) loss.options.seed = seed;
  return all;
}

void tell(const std::string& what, const Found& found) {
  std::printf("  %s: %.2f %% of %zu, %zu wrong\n", what.c_str(),
              100.0 * static_cast<double>(found.found) / static_cast<double>(found.true_left),
              found.true_left, found.wrong);
}

/// Of a trace in which the k-th send of each channel belongs to its k-th receive. `losses`: by
/// seed.
void try_losses(const std::string& name, const trace::Trace& complete,
                const std::function<std::vector<Loss>(std::uint64_t)>& losses) {
  const match::Options options;
  const Edges truth = edges_of(match::build_graph(complete, options));
  for (const std::uint64_t seed : {1, 2, 3}) {
    for (const Loss& loss : losses(seed)) {
      SCOPED_TRACE(name + ", " + loss.name + ", seed " + std::to_string(seed));
      const auto dropped = sim::drop(complete, loss.options);
      ASSERT_TRUE(dropped);
      const Edges edges = edges_of(match::build_graph(dropped->trace, options));
      const auto left = stamps_of(dropped->trace);
      const Found messages = compare(truth.messages, edges.messages, left);
      const Found calls = compare(truth.calls, edges.calls, left);
      std::printf("%s, %s, seed %d\n", name.c_str(), loss.name.c_str(), static_cast<int>(seed));
      tell("messages", messages);
      tell("calls", calls);
      EXPECT_GE(static_cast<double>(messages.found),
                loss.least * static_cast<double>(messages.true_left));
      EXPECT_LE(static_cast<double>(messages.wrong),
                loss.wrong * static_cast<double>(messages.found));
      EXPECT_EQ(calls.wrong, 0u);
      EXPECT_GE(static_cast<double>(calls.found),
                loss.least_calls * static_cast<double>(calls.true_left));
    }
  }
}

void try_truth(const std::string& name) {
  const fs::path path = fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / name;
  const auto loaded = otf2::load(path, 1, nullptr);
  ASSERT_TRUE(loaded) << loaded.error().message;
  try_losses(name, loaded->trace, losses);
}

/// Wrong pairs would be as steady as right ones, so next to none may be told by delays.
void try_lockstep(const LockstepPlan& plan, double least_with_1_percent) {
  const std::string name = std::to_string(plan.processes) + " processes in lockstep" +
                           (plan.both_ways ? ", both ways" : "");
  try_losses(name, lockstep(plan), [&](std::uint64_t seed) {
    std::vector<Loss> all = losses(seed);
    all[1].least = least_with_1_percent;
    for (Loss& loss : all) loss.wrong = 0;
    // Nothing but delays could confirm what lies on both sides of a window, or ahead of an end that
    // nothing tells of.
    all[2].least = all[3].least = 0;
    return all;
  });
}

TEST(IncompletePairs, of_a_stencil) { try_truth("lulesh-8.truth"); }
TEST(IncompletePairs, of_a_multigrid) { try_truth("amg-8.truth"); }

TEST(IncompletePairs, in_lockstep) {
  // A process with two kinds of operations does not tell where it lost a whole round.
  for (const std::uint32_t processes : {2, 4}) try_lockstep({.processes = processes}, 0);
}
TEST(IncompletePairs, in_lockstep_both_ways) {
  for (const std::uint32_t processes : {2, 4}) {
    try_lockstep({.processes = processes, .both_ways = true}, 0.8);
  }
}
TEST(IncompletePairs, calls_are_placed_among_messages_that_are_missing) {
  for (const std::uint32_t processes : {2, 5}) {
    const LockstepPlan plan{.processes = processes, .both_ways = true, .rounds_per_call = 10};
    try_losses(std::to_string(processes) + " processes with calls", lockstep(plan),
               [](std::uint64_t seed) {
                 std::vector<Loss> all = losses(seed);
                 all.resize(2);
                 all[0].least_calls = 0.95;
                 all[1].least_calls = 0.85;
                 all[1].wrong = 2e-4;
                 return all;
               });
  }
}

}  // namespace
}  // namespace entrain::test
