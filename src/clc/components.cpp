// SPDX-License-Identifier: BSD-3-Clause
#include "clc/components.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "clc/incidence.hpp"

namespace entrain::clc {

namespace {

/// Tarjan's algorithm with an explicit stack. Vertices are the nodes, then one vertex per dense
/// exchange, and one per send participant of an ordered exchange, chained in rank order.
class Search {
 public:
  explicit Search(const match::Graph& graph)
      : graph_(graph), incidence_(graph), out_edges_(out_edges(graph)) {
    std::uint32_t next = static_cast<std::uint32_t>(graph.node_count());
    for (const match::Exchange& exchange : graph.exchanges) {
      first_virtual_.push_back(next);
      next += exchange.ordered ? exchange.send_count : 1;
    }
    number_.assign(next, 0);
    low_.assign(next, 0);
    on_stack_.assign(next, false);
  }

  std::vector<TiedNodes> run() {
    for (NodeIndex n = 0; n < graph_.node_count(); ++n) {
      if (number_[n] == 0) visit(n);
    }
    std::sort(found_.begin(), found_.end(),
              [](const TiedNodes& a, const TiedNodes& b) { return a.nodes[0] < b.nodes[0]; });
    return std::move(found_);
  }

 private:
  struct Frame {
    std::uint32_t vertex;
    std::uint32_t child;  ///< number of the next child to look at
  };

  void visit(std::uint32_t root) {
    enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const std::uint32_t child = child_of(frame.vertex, frame.child);
      if (child == k_none) {
        leave();
        continue;
      }
      ++frame.child;
      if (child == k_skip) continue;
      if (number_[child] == 0) {
        enter(child);
      } else if (on_stack_[child]) {
        low_[frame.vertex] = std::min(low_[frame.vertex], number_[child]);
      }
    }
  }

  void enter(std::uint32_t vertex) {
    number_[vertex] = low_[vertex] = ++counter_;
    stack_.push_back(vertex);
    on_stack_[vertex] = true;
    frames_.push_back({vertex, 0});
  }

  void leave() {
    const std::uint32_t vertex = frames_.back().vertex;
    frames_.pop_back();
    if (!frames_.empty()) {
      const std::uint32_t parent = frames_.back().vertex;
      low_[parent] = std::min(low_[parent], low_[vertex]);
    }
    if (low_[vertex] != number_[vertex]) return;
    TiedNodes component;
    std::uint32_t top;
    do {
      top = stack_.back();
      stack_.pop_back();
      on_stack_[top] = false;
      if (top < graph_.node_count()) component.nodes.push_back(top);
    } while (top != vertex);
    if (component.nodes.size() < 2) return;
    std::sort(component.nodes.begin(), component.nodes.end());
    found_.push_back(std::move(component));
  }

  /// The k-th successor; k_none after the last one, k_skip for one that is not there.
  [[nodiscard]] std::uint32_t child_of(std::uint32_t vertex, std::uint32_t k) const {
    return vertex < graph_.node_count() ? child_of_node(vertex, k) : child_of_virtual(vertex, k);
  }

  [[nodiscard]] std::uint32_t child_of_node(NodeIndex node, std::uint32_t k) const {
    if (k == 0) {
      const bool last = node + 1 == graph_.first_node[graph_.location_of(node) + 1];
      return last ? k_skip : node + 1;
    }
    const auto edges = out_edges_.of(node);
    if (k - 1 < edges.size()) return graph_.edges[edges[k - 1]].receive;
    const auto sends = incidence_.sends.of(node);
    const std::size_t i = k - 1 - edges.size();
    if (i >= sends.size()) return k_none;
    const std::uint32_t x = incidence_.exchange_of[sends[i]];
    const match::Exchange& exchange = graph_.exchanges[x];
    return first_virtual_[x] + (exchange.ordered ? sends[i] - exchange.first_send : 0);
  }

  [[nodiscard]] std::uint32_t child_of_virtual(std::uint32_t vertex, std::uint32_t k) const {
    const auto above = std::upper_bound(first_virtual_.begin(), first_virtual_.end(), vertex);
    const auto x = static_cast<std::size_t>(above - first_virtual_.begin()) - 1;
    const match::Exchange& exchange = graph_.exchanges[x];
    const auto receives = graph_.receives(exchange);
    if (!exchange.ordered) return k < receives.size() ? receives[k].node : k_none;
    const auto sends = graph_.sends(exchange);
    const std::size_t i = vertex - first_virtual_[x];
    const bool last = i + 1 == sends.size();
    if (k == 0) return last ? k_skip : vertex + 1;
    const std::size_t begin = first_not_below(receives, sends[i].order + 1);
    const std::size_t end =
        last ? receives.size() : first_not_below(receives, sends[i + 1].order + 1);
    return begin + k - 1 < end ? receives[begin + k - 1].node : k_none;
  }

  static constexpr std::uint32_t k_skip = k_none - 1;
  const match::Graph& graph_;
  const Incidence incidence_;
  const NodeLists out_edges_;
  std::vector<std::uint32_t> first_virtual_;
  std::vector<std::uint32_t> number_, low_, stack_;
  std::vector<bool> on_stack_;
  std::vector<Frame> frames_;
  std::vector<TiedNodes> found_;
  std::uint32_t counter_ = 0;
};

bool is_tie(const match::Graph& graph, const TiedNodes& component) {
  for (std::size_t i = 0; i < component.nodes.size();) {
    const LocationIndex location = graph.location_of(component.nodes[i]);
    std::size_t end = i;
    while (end < component.nodes.size() && graph.location_of(component.nodes[end]) == location) {
      ++end;
    }
    const std::uint64_t span =
        graph.stamp[component.nodes[end - 1]] - graph.stamp[component.nodes[i]];
    if (span > 2 * std::max<std::uint64_t>(graph.granule[location], 1)) return false;
    i = end;
  }
  return true;
}

}  // namespace

Components find_components(const match::Graph& graph) {
  Components result;
  for (TiedNodes& component : Search(graph).run()) {
    auto& target = is_tie(graph, component) ? result.tied : result.errors;
    target.push_back(std::move(component));
  }
  return result;
}

std::uint64_t drop_inner_edges(match::Graph& graph, std::span<const TiedNodes> components) {
  std::vector<std::uint32_t> component_of(graph.node_count(), k_none);
  for (std::uint32_t c = 0; c < components.size(); ++c) {
    for (const NodeIndex n : components[c].nodes) component_of[n] = c;
  }
  std::uint64_t dropped = std::erase_if(graph.edges, [&](const match::Edge& edge) {
    return component_of[edge.send] != k_none &&
           component_of[edge.send] == component_of[edge.receive];
  });
  // An exchange of S and R some of whose participants lie in component c becomes all of S before
  // the R outside, and the S outside of c before the R inside.
  BigVector<match::Exchange> exchanges;
  for (const match::Exchange& exchange : graph.exchanges) {
    const auto sends = graph.sends(exchange);
    const auto receives = graph.receives(exchange);
    const std::vector<match::Participant> all_sends(sends.begin(), sends.end());
    std::set<std::uint32_t> sending;
    for (const match::Participant& send : sends) sending.insert(component_of[send.node]);
    sending.erase(k_none);
    std::vector<match::Participant> outside;
    std::map<std::uint32_t, std::vector<match::Participant>> inside;  // by component
    for (const match::Participant& receive : receives) {
      const std::uint32_t c = component_of[receive.node];
      (sending.contains(c) ? inside[c] : outside).push_back(receive);
    }
    if (inside.empty()) {
      exchanges.push_back(exchange);
      continue;
    }
    const auto add = [&](const std::vector<match::Participant>& s,
                         const std::vector<match::Participant>& r) {
      if (s.empty() || r.empty()) return;
      match::Exchange part = exchange;
      part.first_send = static_cast<std::uint32_t>(graph.participants.size());
      part.send_count = static_cast<std::uint32_t>(s.size());
      graph.participants.insert(graph.participants.end(), s.begin(), s.end());
      part.first_receive = static_cast<std::uint32_t>(graph.participants.size());
      part.receive_count = static_cast<std::uint32_t>(r.size());
      graph.participants.insert(graph.participants.end(), r.begin(), r.end());
      exchanges.push_back(part);
    };
    add(all_sends, outside);
    for (const auto& [c, own] : inside) {
      std::vector<match::Participant> other = all_sends;
      const std::size_t removed =
          std::erase_if(other, [&, apart = c](const match::Participant& send) {
            return component_of[send.node] == apart;
          });
      dropped += removed * own.size();
      add(other, own);
    }
  }
  graph.exchanges.swap(exchanges);
  return dropped;
}

std::size_t first_not_below(std::span<const match::Participant> side, std::uint32_t order) {
  const auto found =
      std::lower_bound(side.begin(), side.end(), order,
                       [](const match::Participant& p, std::uint32_t o) { return p.order < o; });
  return static_cast<std::size_t>(found - side.begin());
}

}  // namespace entrain::clc
