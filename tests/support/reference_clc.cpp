// SPDX-License-Identifier: BSD-3-Clause
#include "support/reference_clc.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace entrain::test {

namespace {

__extension__ using Wide = __int128;
constexpr std::int64_t k_one = 1'000'000'000;

/// numerator / denominator, denominator > 0.
struct Fraction {
  Wide numerator = 0;
  Wide denominator = 1;
};
bool less(const Fraction& a, const Fraction& b) {
  return a.numerator * b.denominator < b.numerator * a.denominator;
}

Wide floor_divide(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
Wide ceil_divide(Wide a, Wide b) { return -floor_divide(-a, b); }

}  // namespace

void ReferenceProblem::add_location(const std::vector<std::uint64_t>& stamps,
                                    std::uint64_t its_granule) {
  for (const std::uint64_t at : stamps) {
    stamp.push_back(at);
    c.push_back(static_cast<std::int64_t>(at));
  }
  granule.push_back(its_granule);
  first_node.push_back(static_cast<NodeIndex>(stamp.size()));
}

NodeIndex ReferenceProblem::node(LocationIndex location, std::uint64_t at) const {
  const auto begin = stamp.begin() + first_node[location];
  const auto end = stamp.begin() + first_node[location + 1];
  const auto found = std::lower_bound(begin, end, at);
  return found == end || *found != at ? k_none : static_cast<NodeIndex>(found - stamp.begin());
}

ReferenceProblem reference_problem(const RandomTrace& source, const MuTicks& mu) {
  ReferenceProblem problem;
  const auto& definitions = source.trace.definitions;
  for (LocationIndex l = 0; l < source.trace.locations.size(); ++l) {
    std::vector<std::uint64_t> stamps;
    for (const trace::Event& event : source.trace.locations[l].events) {
      if (stamps.empty() || stamps.back() != event.time) stamps.push_back(event.time);
    }
    problem.add_location(stamps, source.trace.locations[l].granule);
    for (NodeIndex node = problem.first_node[l]; node < problem.first_node[l + 1]; ++node) {
      problem.c[node] = source.presync[l](problem.stamp[node]);
    }
  }
  for (const TrueEdge& edge : source.edges) {
    const LocationIndex s = edge.send_location, r = edge.receive_location;
    const auto latency_class =
        definitions.process_of[s] == definitions.process_of[r] ? LatencyClass::same_process
        : definitions.node_of[s] == definitions.node_of[r]     ? LatencyClass::same_node
                                                               : LatencyClass::other;
    problem.pairs.push_back({problem.node(s, edge.send_stamp), problem.node(r, edge.receive_stamp),
                             mu[static_cast<std::size_t>(latency_class)], edge.kind});
  }
  return problem;
}

ReferenceProblem reference_problem(const match::Graph& graph, std::span<const ClockMap> presync,
                                   const MuTicks& mu) {
  ReferenceProblem problem;
  problem.first_node = graph.first_node;
  problem.stamp.assign(graph.stamp.begin(), graph.stamp.end());
  problem.granule = graph.granule;
  std::vector<LocationIndex> location_of;
  for (LocationIndex l = 0; l < problem.locations(); ++l) {
    for (NodeIndex node = graph.first_node[l]; node < graph.first_node[l + 1]; ++node) {
      problem.c.push_back(presync[l](graph.stamp[node]));
      location_of.push_back(l);
    }
  }
  const auto add = [&](NodeIndex send, NodeIndex receive, EdgeKind kind) {
    const auto latency_class = graph.latency_class(location_of[send], location_of[receive]);
    problem.pairs.push_back({send, receive, mu[static_cast<std::size_t>(latency_class)], kind});
  };
  for (const match::Edge& edge : graph.edges) add(edge.send, edge.receive, edge.kind);
  for (const match::Exchange& exchange : graph.exchanges) {
    for (const match::Participant& s : graph.sends(exchange)) {
      for (const match::Participant& r : graph.receives(exchange)) {
        if (s.location == r.location || (exchange.ordered && s.order >= r.order)) continue;
        add(s.node, r.node, exchange.kind);
      }
    }
  }
  return problem;
}

ReferenceCycles reference_cycles(const ReferenceProblem& problem) {
  const std::size_t nodes = problem.nodes();
  std::vector<std::vector<NodeIndex>> next(nodes);
  for (const ReferencePair& pair : problem.pairs) next[pair.send].push_back(pair.receive);
  for (std::size_t l = 0; l < problem.locations(); ++l) {
    for (NodeIndex i = problem.first_node[l]; i + 1 < problem.first_node[l + 1]; ++i) {
      next[i].push_back(i + 1);
    }
  }
  // Tarjan, by recursion: components come out in reverse topological order.
  ReferenceCycles result;
  result.component.assign(nodes, k_none);
  std::vector<std::uint32_t> index(nodes, k_none), low(nodes, 0);
  std::vector<NodeIndex> stack;
  std::vector<std::vector<NodeIndex>> components;
  std::uint32_t counter = 0;
  const std::function<void(NodeIndex)> visit = [&](NodeIndex v) {
    index[v] = low[v] = counter++;
    stack.push_back(v);
    for (const NodeIndex w : next[v]) {
      if (index[w] == k_none) visit(w);
      if (result.component[w] == k_none) low[v] = std::min(low[v], low[w]);
    }
    if (low[v] != index[v]) return;
    components.emplace_back();
    while (true) {
      const NodeIndex w = stack.back();
      stack.pop_back();
      result.component[w] = static_cast<std::uint32_t>(components.size() - 1);
      components.back().push_back(w);
      if (w == v) break;
    }
  };
  for (NodeIndex v = 0; v < nodes; ++v) {
    if (index[v] == k_none) visit(v);
  }

  std::vector<bool> wide(components.size(), false);
  for (std::size_t l = 0; l < problem.locations(); ++l) {
    std::map<std::uint32_t, NodeIndex> first;
    for (NodeIndex i = problem.first_node[l]; i < problem.first_node[l + 1]; ++i) {
      const NodeIndex begin = first.try_emplace(result.component[i], i).first->second;
      if (problem.stamp[i] - problem.stamp[begin] > 2 * problem.granule[l]) {
        wide[result.component[i]] = true;
      }
    }
  }
  // Renumber in topological order; the nodes of a wide component stand alone, in an order that its
  // remaining (local) relations allow: by stamp within each location.
  std::uint32_t number = 0;
  for (std::size_t k = components.size(); k-- > 0;) {
    std::vector<NodeIndex>& members = components[k];
    std::sort(members.begin(), members.end());
    result.kept_components += members.size() > 1 && !wide[k] ? 1 : 0;
    result.dropped_components += wide[k] ? 1 : 0;
    for (const NodeIndex member : members) {
      result.component[member] = number;
      if (wide[k]) {
        result.cyclic.push_back(false);
        ++number;
      }
    }
    if (!wide[k]) {
      result.cyclic.push_back(members.size() > 1);
      ++number;
    }
  }
  std::vector<std::uint32_t> wide_component(nodes, k_none);
  for (std::uint32_t k = 0; k < components.size(); ++k) {
    for (const NodeIndex member : components[k]) {
      if (wide[k]) wide_component[member] = k;
    }
  }
  for (const ReferencePair& pair : problem.pairs) {
    result.dropped.push_back(wide_component[pair.send] != k_none &&
                             wide_component[pair.send] == wide_component[pair.receive]);
  }
  return result;
}

ReferenceForward reference_forward(const ReferenceProblem& problem, const ReferenceCycles& cycles,
                                   std::int64_t gamma_billionths, std::int64_t delta) {
  return reference_forward(problem, cycles,
                           std::vector<std::int64_t>(problem.locations(), gamma_billionths), delta);
}

ReferenceForward reference_forward(const ReferenceProblem& problem, const ReferenceCycles& cycles,
                                   const std::vector<std::int64_t>& gamma_billionths,
                                   std::int64_t delta) {
  const std::size_t nodes = problem.nodes();
  std::vector<std::vector<NodeIndex>> members(cycles.cyclic.size());
  std::vector<NodeIndex> previous(nodes, k_none);
  std::vector<std::int64_t> gamma(nodes);
  for (std::size_t l = 0; l < problem.locations(); ++l) {
    for (NodeIndex i = problem.first_node[l]; i < problem.first_node[l + 1]; ++i) {
      members[cycles.component[i]].push_back(i);
      gamma[i] = gamma_billionths[l];
      if (i > problem.first_node[l]) previous[i] = i - 1;
    }
  }
  std::vector<std::vector<const ReferencePair*>> incoming(nodes);
  for (std::size_t k = 0; k < problem.pairs.size(); ++k) {
    if (!cycles.dropped[k]) incoming[problem.pairs[k].receive].push_back(&problem.pairs[k]);
  }

  struct State {  // displacement `jump` at presynchronised time `since`, decaying from there
    std::int64_t jump = 0, since = 0;
  };
  std::vector<State> state(nodes);
  ReferenceForward result;
  result.time.assign(nodes, 0);
  result.jump.assign(nodes, false);
  for (const std::vector<NodeIndex>& component : members) {
    std::vector<State> before(component.size());
    std::vector<std::int64_t> decayed(component.size());
    std::int64_t common = std::numeric_limits<std::int64_t>::min();
    for (std::size_t k = 0; k < component.size(); ++k) {
      const NodeIndex j = component[k];
      const NodeIndex p = previous[j];
      const bool inside = p != k_none && cycles.component[p] == cycles.component[j];
      before[k] = inside ? before[k - 1] : p == k_none ? State{} : state[p];
      const Wide b =
          Wide{before[k].jump} * k_one - Wide{k_one - gamma[j]} * (problem.c[j] - before[k].since);
      decayed[k] = problem.c[j] + static_cast<std::int64_t>(b > 0 ? ceil_divide(b, k_one) : 0);
      common = std::max(common, decayed[k]);
      if (p != k_none && !inside) {
        common = std::max(common, result.time[p] + std::min(delta, problem.c[j] - problem.c[p]));
      }
      for (const ReferencePair* pair : incoming[j]) {
        if (cycles.component[pair->send] == cycles.component[j]) continue;
        common = std::max(common, result.time[pair->send] + pair->mu);
      }
    }
    for (std::size_t k = 0; k < component.size(); ++k) {
      const NodeIndex j = component[k];
      result.time[j] = common;
      result.jump[j] = common > decayed[k];
      state[j] = result.jump[j] ? State{common - problem.c[j], problem.c[j]} : before[k];
      result.error = std::max(result.error, common - problem.c[j]);
    }
  }
  return result;
}

std::int64_t reference_gamma(const ReferenceProblem& problem, const ReferenceCycles& cycles,
                             std::int64_t delta) {
  const std::int64_t floor = reference_forward(problem, cycles, 900'000'000, delta).error;
  for (const std::int64_t gamma : {999'990'000, 999'900'000, 999'000'000, 990'000'000}) {
    if (10 * Wide{reference_forward(problem, cycles, gamma, delta).error} <= 11 * Wide{floor}) {
      return gamma;
    }
  }
  return 900'000'000;
}

std::vector<std::int64_t> reference_limits(const ReferenceProblem& problem,
                                           const ReferenceCycles& cycles,
                                           const std::vector<std::int64_t>& forward) {
  std::vector<std::int64_t> limit(problem.nodes(), k_unlimited);
  for (std::size_t k = 0; k < problem.pairs.size(); ++k) {
    if (cycles.dropped[k]) continue;
    const ReferencePair& pair = problem.pairs[k];
    const bool inside = cycles.component[pair.send] == cycles.component[pair.receive];
    limit[pair.send] = std::min(
        limit[pair.send], forward[pair.receive] - (inside ? 0 : pair.mu) - problem.c[pair.send]);
  }
  return limit;
}

std::vector<std::int64_t> reference_ramps(std::span<const std::uint64_t> stamp,
                                          std::span<const std::int64_t> lower,
                                          std::span<const std::int64_t> limit,
                                          const std::vector<bool>& jump,
                                          std::int64_t slope_billionths) {
  const Fraction s_max{slope_billionths, k_one};
  std::vector<std::int64_t> e(lower.begin(), lower.end());
  constexpr std::size_t k_nobody = ~std::size_t{0};
  for (std::size_t top = 0; top < stamp.size(); ++top) {
    if (!jump[top]) continue;
    std::size_t c = top;
    std::int64_t y = lower[top];
    // Raises the nodes [from, c) to the line of slope m that ends at (c, y).
    const auto draw = [&](std::size_t from, const Fraction& m) {
      for (std::size_t i = from; i < c; ++i) {
        const Wide line = floor_divide(y * m.denominator - m.numerator * Wide{stamp[c] - stamp[i]},
                                       m.denominator);
        e[i] = std::max(e[i], static_cast<std::int64_t>(line));
      }
    };
    while (true) {
      Fraction lo = s_max, hi;
      std::size_t lo_node = k_nobody, hi_node = k_nobody;  // who demands it
      std::size_t vertex = k_nobody;
      bool rests = false;
      std::size_t end = 0;  // where the ramp ends if it finds no vertex
      for (std::size_t i = c; i-- > 0;) {
        const Wide run = Wide{stamp[c] - stamp[i]};
        if (limit[i] != k_unlimited) {
          const Fraction steep{Wide{y} - limit[i], run};
          if (hi_node != k_nobody && less(hi, steep)) {
            vertex = hi_node;
            rests = true;
            break;
          }
          if (less(lo, steep)) {
            lo = steep;
            lo_node = i;
          }
        }
        const Fraction flat{Wide{y} - lower[i], run};
        if (less(flat, lo)) {
          vertex = lo_node;
          end = i + 1;
          break;
        }
        if (hi_node == k_nobody || less(flat, hi)) {
          hi = flat;
          hi_node = i;
        }
        if (i == 0) vertex = lo_node;
      }
      if (vertex == k_nobody) {
        draw(end, s_max);
        break;
      }
      const std::int64_t height = rests ? lower[vertex] : limit[vertex];
      draw(vertex, {Wide{y} - height, Wide{stamp[c] - stamp[vertex]}});
      c = vertex;
      y = height;
    }
  }
  return e;
}

std::vector<std::int64_t> reference_backward(const ReferenceProblem& problem,
                                             const ReferenceCycles& cycles,
                                             const ReferenceForward& forward,
                                             std::int64_t slope_billionths) {
  const std::vector<std::int64_t> limit = reference_limits(problem, cycles, forward.time);
  std::vector<std::int64_t> result;
  for (std::size_t l = 0; l < problem.locations(); ++l) {
    const NodeIndex begin = problem.first_node[l], end = problem.first_node[l + 1];
    std::vector<std::int64_t> lower;
    for (NodeIndex i = begin; i < end; ++i) lower.push_back(forward.time[i] - problem.c[i]);
    const std::vector<bool> jump(forward.jump.begin() + begin, forward.jump.begin() + end);
    const std::vector<std::int64_t> e =
        reference_ramps(std::span(problem.stamp).subspan(begin, end - begin), lower,
                        std::span(limit).subspan(begin, end - begin), jump, slope_billionths);
    for (NodeIndex i = begin; i < end; ++i) result.push_back(problem.c[i] + e[i - begin]);
  }
  return result;
}

std::uint64_t reference_violations(const ReferenceProblem& problem, const ReferenceCycles& cycles,
                                   std::span<const std::int64_t> time) {
  std::uint64_t count = 0;
  for (std::size_t k = 0; k < problem.pairs.size(); ++k) {
    const ReferencePair& pair = problem.pairs[k];
    if (cycles.dropped[k]) continue;
    const bool inside = cycles.component[pair.send] == cycles.component[pair.receive];
    if (time[pair.receive] < time[pair.send] + (inside ? 0 : pair.mu)) ++count;
  }
  return count;
}

}  // namespace entrain::test
