// SPDX-License-Identifier: BSD-3-Clause
#include "support/library_verifier.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "support/library_pairs.hpp"
#include "support/oracle.hpp"

namespace entrain::test {

namespace {

/// All events of a location with the same stored stamp, one after the other, are one node.
using Node = std::size_t;

/// Nodes and what follows what; components by two walks (Kosaraju).
class Order {
 public:
  Order(const LibraryPairs& pairs, bool init_finalize) {
    for (const auto& events : pairs.stored.locations) {
      node_of_.emplace_back();
      for (std::size_t e = 0; e < events.events.size(); ++e) {
        const bool same = e > 0 && events.events[e].time == events.events[e - 1].time;
        if (!same) {
          after_.emplace_back();
          before_.emplace_back();
          if (e > 0) join(after_.size() - 2, after_.size() - 1);
        }
        node_of_.back().push_back(after_.size() - 1);
      }
    }
    for (const LibraryPair& pair : pairs.pairs) {
      if (pair.kind != EdgeKind::init_finalize || init_finalize) {
        join(node(pair.send), node(pair.receive));
      }
    }
    find_components();
  }

  [[nodiscard]] Node node(LibraryEvent event) const {
    return node_of_[event.location][event.event];
  }
  [[nodiscard]] std::size_t component(LibraryEvent event) const { return component_[node(event)]; }

 private:
  void join(Node from, Node to) {
    after_[from].push_back(to);
    before_[to].push_back(from);
  }

  /// Nodes in the order in which a depth-first walk from `root` leaves them.
  static void walk(const std::vector<std::vector<Node>>& next, Node root, std::vector<bool>& seen,
                   std::vector<Node>& left) {
    if (seen[root]) return;
    seen[root] = true;
    std::vector<std::pair<Node, std::size_t>> path{{root, 0}};
    while (!path.empty()) {
      auto& [node, at] = path.back();
      if (at == next[node].size()) {
        left.push_back(node);
        path.pop_back();
        continue;
      }
      const Node to = next[node][at++];
      if (seen[to]) continue;
      seen[to] = true;
      path.emplace_back(to, 0);
    }
  }

  void find_components() {
    std::vector<bool> seen(after_.size(), false);
    std::vector<Node> left;
    for (Node n = 0; n < after_.size(); ++n) walk(after_, n, seen, left);
    component_.resize(after_.size());
    seen.assign(after_.size(), false);
    std::size_t components = 0;
    for (auto root = left.rbegin(); root != left.rend(); ++root) {
      std::vector<Node> members;
      walk(before_, *root, seen, members);
      for (const Node member : members) component_[member] = components;
      ++components;
    }
  }

  std::vector<std::vector<Node>> node_of_;  ///< per location and event
  std::vector<std::vector<Node>> after_, before_;
  std::vector<std::size_t> component_;
};

/// Components that span more than two granules of some location.
std::set<std::size_t> wide_components(const LibraryPairs& pairs, const Order& order) {
  std::set<std::size_t> wide;
  for (LocationIndex l = 0; l < pairs.stored.locations.size(); ++l) {
    const auto& location = pairs.stored.locations[l];
    const std::uint64_t limit = 2 * std::max<std::uint64_t>(location.granule, 1);
    std::map<std::size_t, std::uint64_t> since;
    for (std::uint32_t e = 0; e < location.events.size(); ++e) {
      const std::size_t component = order.component({l, e});
      const std::uint64_t time = location.events[e].time;
      const auto first = since.emplace(component, time).first->second;
      if (time > first && time - first > limit) wide.insert(component);
    }
  }
  return wide;
}

}  // namespace

VerifiedKinds verify_with_library(const std::filesystem::path& anchor, const CheckOptions& options,
                                  const MuTicks& mu) {
  const LibraryPairs pairs(library_trace(anchor), options.alltoallv == AlltoallvRule::dense);
  const trace::Trace corrected = library_trace(anchor, true);
  const Order order(pairs, options.init_finalize);
  const std::set<std::size_t> wide = wide_components(pairs, order);
  const trace::Definitions& definitions = pairs.stored.definitions;
  VerifiedKinds kinds{};
  for (const LibraryPair& pair : pairs.pairs) {
    const bool inside = order.component(pair.send) == order.component(pair.receive);
    if (inside && wide.contains(order.component(pair.send))) continue;
    const auto time = [&](LibraryEvent event) {
      return static_cast<std::int64_t>(
          corrected.locations[event.location].events[event.event].time);
    };
    const LocationIndex a = pair.send.location, b = pair.receive.location;
    const std::size_t latency = definitions.process_of[a] == definitions.process_of[b] ? 0
                                : definitions.node_of[a] == definitions.node_of[b]     ? 1
                                                                                       : 2;
    const std::int64_t margin = time(pair.receive) - time(pair.send);
    VerifiedEdges& edges = kinds[static_cast<std::size_t>(pair.kind)];
    ++edges.count;
    if (margin < 0) ++edges.violations;
    if (margin < (inside ? 0 : mu[latency])) ++edges.below_latency;
  }
  return kinds;
}

}  // namespace entrain::test
