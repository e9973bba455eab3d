// SPDX-License-Identifier: BSD-3-Clause
#include "verify/cycles.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace entrain::verify {

namespace {

using Vertex = std::uint32_t;

/// Distinct stamps per location, and one vertex per instance to go through, so that an instance
/// costs as many arcs as it has participants. An ordered instance gets a chain of vertices, one
/// per sender. Going through an instance also leads from a location's own begin to its own end,
/// which the stream orders anyway.
class OrderGraph {
 public:
  OrderGraph(const trace::Trace& trace, const Pairing& pairing, bool init_finalize)
      : trace_(trace), pairing_(pairing), init_finalize_(init_finalize) {
    number_nodes();
    Vertex vertices = node_count_;
    for_each_arc([&](Vertex from, Vertex to) {
      vertices = std::max({vertices, from + 1, to + 1});
    });
    first_arc_.assign(std::size_t{vertices} + 1, 0);
    incoming_.assign(vertices, 0);
    for_each_arc([&](Vertex from, Vertex to) {
      ++first_arc_[from + 1];
      ++incoming_[to];
    });
    for (std::size_t v = 1; v < first_arc_.size(); ++v) first_arc_[v] += first_arc_[v - 1];
    targets_.resize(first_arc_.back());
    std::vector<std::uint32_t> filled(first_arc_.begin(), first_arc_.end() - 1);
    for_each_arc([&](Vertex from, Vertex to) { targets_[filled[from]++] = to; });
    for (Vertex v = 0; v < node_count_; ++v) {
      if (follows_[v]) ++incoming_[v];
    }
  }

  [[nodiscard]] Vertex vertex_count() const { return static_cast<Vertex>(incoming_.size()); }
  [[nodiscard]] Vertex node_count() const { return node_count_; }
  [[nodiscard]] Vertex node(std::size_t event_number) const { return node_of_event_[event_number]; }
  [[nodiscard]] const std::vector<std::size_t>& first_event() const { return first_event_; }
  [[nodiscard]] const std::vector<std::uint32_t>& incoming() const { return incoming_; }

  /// The k-th successor of a vertex; false after the last one. The next node of the location is
  /// the last successor and not stored.
  bool successor(Vertex v, std::uint32_t k, Vertex& to) const {
    const std::uint32_t stored = first_arc_[v + 1] - first_arc_[v];
    if (k < stored) {
      to = targets_[first_arc_[v] + k];
      return true;
    }
    if (k > stored || v + 1 >= node_count_ || !follows_[v + 1]) return false;
    to = v + 1;
    return true;
  }

 private:
  void number_nodes() {
    std::size_t events = 0;
    for (const auto& location : trace_.locations) {
      first_event_.push_back(events);
      events += location.events.size();
    }
    node_of_event_.reserve(events);
    for (const auto& location : trace_.locations) {
      for (std::size_t e = 0; e < location.events.size(); ++e) {
        if (e == 0 || location.events[e].time != location.events[e - 1].time) {
          follows_.push_back(e > 0);
          ++node_count_;
        }
        node_of_event_.push_back(node_count_ - 1);
      }
    }
  }

  [[nodiscard]] Vertex node(EventRef event) const {
    return node_of_event_[first_event_[event.location] + event.event];
  }

  template <class Use>
  void for_each_arc(Use use) const {
    for (const Pair& pair : pairing_.pairs) use(node(pair.send), node(pair.receive));
    Vertex next = node_count_;
    for (const Instance& instance : pairing_.instances) {
      if (instance.kind == EdgeKind::init_finalize && !init_finalize_) continue;
      if (instance.ordered) {
        use_chain(instance, next, use);
        next += instance.send_count;
        continue;
      }
      for (const Participant& p : pairing_.sends(instance)) use(node(p.event), next);
      for (const Participant& p : pairing_.receives(instance)) use(next, node(p.event));
      ++next;
    }
  }

  /// Vertex first + i stands for "the senders 0 .. i have begun".
  template <class Use>
  void use_chain(const Instance& instance, Vertex first, Use use) const {
    const auto sends = pairing_.sends(instance);
    for (Vertex i = 0; i < sends.size(); ++i) {
      use(node(sends[i].event), first + i);
      if (i > 0) use(first + i - 1, first + i);
    }
    Vertex below = 0;  // senders of lower rank
    for (const Participant& receive : pairing_.receives(instance)) {
      while (below < sends.size() && sends[below].rank < receive.rank) ++below;
      if (below > 0) use(first + below - 1, node(receive.event));
    }
  }

  const trace::Trace& trace_;
  const Pairing& pairing_;
  bool init_finalize_;
  Vertex node_count_ = 0;
  std::vector<std::size_t> first_event_;  ///< per location
  std::vector<Vertex> node_of_event_;     ///< per event number
  std::vector<bool> follows_;             ///< per node: not the first one of its location
  std::vector<std::uint32_t> first_arc_;  ///< per vertex, in targets_
  std::vector<Vertex> targets_;
  std::vector<std::uint32_t> incoming_;  ///< per vertex, local order included
};

/// Takes away vertices without predecessor until none is left. True for those that stay: the
/// cycles, and what comes after them.
std::vector<bool> peel(const OrderGraph& graph) {
  std::vector<std::uint32_t> incoming = graph.incoming();
  std::vector<bool> stays(incoming.size(), true);
  std::vector<Vertex> ready;
  for (Vertex v = 0; v < graph.vertex_count(); ++v) {
    if (incoming[v] == 0) ready.push_back(v);
  }
  while (!ready.empty()) {
    const Vertex v = ready.back();
    ready.pop_back();
    stays[v] = false;
    Vertex to = 0;
    for (std::uint32_t k = 0; graph.successor(v, k, to); ++k) {
      if (--incoming[to] == 0) ready.push_back(to);
    }
  }
  return stays;
}

/// Tarjan's algorithm without recursion, on the vertices that `stays` leaves.
class Components {
 public:
  Components(const OrderGraph& graph, const std::vector<bool>& stays)
      : graph_(graph),
        stays_(stays),
        index_(graph.vertex_count(), 0),
        low_(graph.vertex_count(), 0),
        of_node_(graph.node_count(), k_none) {
    for (Vertex v = 0; v < graph.vertex_count(); ++v) {
      if (stays_[v] && index_[v] == 0) search(v);
    }
  }

  [[nodiscard]] const std::vector<std::uint32_t>& of_node() const { return of_node_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  static constexpr std::uint32_t k_closed = k_none;  ///< index of vertices of finished components
  struct Frame {
    Vertex vertex;
    std::uint32_t successor;
  };

  void open(Vertex v) {
    index_[v] = low_[v] = ++clock_;
    path_.push_back(v);
    frames_.push_back({v, 0});
  }

  void search(Vertex root) {
    open(root);
    while (!frames_.empty()) {
      const Vertex v = frames_.back().vertex;
      Vertex to = 0;
      if (graph_.successor(v, frames_.back().successor, to)) {
        ++frames_.back().successor;
        if (!stays_[to] || index_[to] == k_closed) continue;
        if (index_[to] == 0) {
          open(to);
        } else {
          low_[v] = std::min(low_[v], index_[to]);
        }
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty()) {
        Vertex parent = frames_.back().vertex;
        low_[parent] = std::min(low_[parent], low_[v]);
      }
      if (low_[v] == index_[v]) close(v);
    }
  }

  /// Everything on the path from v on is one component; one with a single node is no cycle.
  void close(Vertex v) {
    auto first = path_.end();
    std::uint32_t nodes = 0;
    do {
      --first;
      index_[*first] = k_closed;
      if (*first < graph_.node_count()) ++nodes;
    } while (*first != v);
    if (nodes > 1) {
      for (auto member = first; member != path_.end(); ++member) {
        if (*member < graph_.node_count()) of_node_[*member] = count_;
      }
      ++count_;
    }
    path_.erase(first, path_.end());
  }

  const OrderGraph& graph_;
  const std::vector<bool>& stays_;
  std::vector<std::uint32_t> index_, low_;  ///< index 0: not seen yet
  std::vector<std::uint32_t> of_node_;
  std::vector<Vertex> path_;
  std::vector<Frame> frames_;
  std::uint32_t clock_ = 0;
  std::uint32_t count_ = 0;
};

/// Marks components whose stamps lie more than two granules apart on a location.
void drop_wide_components(const trace::Trace& trace, Cycles& cycles) {
  std::vector<LocationIndex> seen_on(cycles.dropped.size(), k_none);
  std::vector<std::uint64_t> since(cycles.dropped.size(), 0);
  for (LocationIndex l = 0; l < trace.locations.size(); ++l) {
    const auto& location = trace.locations[l];
    const std::uint64_t granule = std::max<std::uint64_t>(location.granule, 1);
    const std::uint64_t limit =
        granule > std::numeric_limits<std::uint64_t>::max() / 2 ? granule : 2 * granule;
    for (std::uint32_t e = 0; e < location.events.size(); ++e) {
      const std::uint32_t component = cycles.of({l, e});
      if (component == k_none) continue;
      const std::uint64_t time = location.events[e].time;
      if (seen_on[component] != l) {
        seen_on[component] = l;
        since[component] = time;
      } else if (time > since[component] && time - since[component] > limit) {
        cycles.dropped[component] = true;
      }
    }
  }
}

}  // namespace

Cycles find_cycles(const trace::Trace& trace, const Pairing& pairing, bool init_finalize) {
  Cycles cycles;
  const OrderGraph graph(trace, pairing, init_finalize);
  const std::vector<bool> stays = peel(graph);
  if (std::find(stays.begin(), stays.end(), true) == stays.end()) return cycles;
  const Components components(graph, stays);
  if (components.count() == 0) return cycles;  // only an instance's own begin and end
  cycles.first = graph.first_event();
  std::size_t events = 0;
  for (const auto& location : trace.locations) events += location.events.size();
  cycles.component.resize(events);
  for (std::size_t e = 0; e < events; ++e) {
    cycles.component[e] = components.of_node()[graph.node(e)];
  }
  cycles.dropped.assign(components.count(), false);
  drop_wide_components(trace, cycles);
  return cycles;
}

}  // namespace entrain::verify
