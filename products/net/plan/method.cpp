// SPDX-License-Identifier: BSD-3-Clause
#include "net/plan/method.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/try.hpp"
#include "net/plan/joined_plan.hpp"
#include "net/plan/planner.hpp"

namespace entrain::net {
namespace {

void plan_sss(const Topology& topology, Planner& planner) {
  const auto n = static_cast<std::int64_t>(topology.interfaces().size());
  std::vector<InterfaceIndex> all(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<InterfaceIndex>(i);
  planner.add_bbp(all, 0);
}

/// The leaders of each switch: of each child's subtree the interface with the smallest index.
using Leaders = std::map<NodeIndex, std::vector<InterfaceIndex>>;

InterfaceIndex collect_leaders(const Planner& planner, const SpanningTree& tree, NodeIndex node,
                               Leaders& leaders) {
  if (tree.level(node) == 0) return planner.interface_at(node);
  std::vector<InterfaceIndex> found;
  for (const NodeIndex child : tree.children(node))
    found.push_back(collect_leaders(planner, tree, child, leaders));
  std::sort(found.begin(), found.end());
  const InterfaceIndex smallest = found.front();
  leaders[node] = std::move(found);
  return smallest;
}

void plan_hss(const SpanningTree& tree, Planner& planner) {
  Leaders leaders;
  collect_leaders(planner, tree, tree.root(), leaders);
  const std::int64_t top = tree.levels() - 1;
  std::int64_t start = 0;
  const auto step = [&](std::int64_t level) {
    std::size_t longest = 0;
    for (const auto& [node, group] : leaders) {
      if (tree.level(node) != level) continue;
      if (group.size() < 2) continue;
      longest = std::max(longest, group.size());
      planner.add_bbp(group, start);
    }
    start += static_cast<std::int64_t>(longest);
  };
  for (std::int64_t level = 1; level <= top; ++level) step(level);
  for (std::int64_t level = top - 1; level >= 1; --level) step(level);
}

/// Number of messages where it grows with the square of the interfaces; 0 where it stays small.
std::int64_t most_messages(const SpanningTree& tree, std::int64_t interfaces, Method method) {
  if (method == Method::sss || tree.levels() == 2) return interfaces * interfaces;
  return 0;
}

}  // namespace

const char* name_of(Method method) {
  switch (method) {
    case Method::sss:
      return "sss";
    case Method::hss:
      return "hss";
    case Method::joined:
      return "joined";
    case Method::alternating:
      return "alternating";
    case Method::doubling:
      return "doubling";
  }
  return "";
}

Result<Schedule> plan(const Topology& topology, const SpanningTree& tree, Method method) {
  const auto interfaces = static_cast<std::int64_t>(topology.interfaces().size());
  if (most_messages(tree, interfaces, method) > k_most_messages)
    return fail(ErrorKind::usage,
                fmt::format("a building block pattern over {} interfaces has more than {} messages",
                            interfaces, k_most_messages));
  Planner planner(topology, tree);
  switch (method) {
    case Method::sss:
      plan_sss(topology, planner);
      break;
    case Method::hss:
      plan_hss(tree, planner);
      break;
    case Method::joined:
      plan_joined(tree, planner, StepKind::direct);
      break;
    case Method::alternating:
      plan_joined(tree, planner, StepKind::alternating);
      break;
    case Method::doubling:
      plan_joined(tree, planner, StepKind::doubling);
      break;
  }
  return planner.take();
}

}  // namespace entrain::net
