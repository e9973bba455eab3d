// SPDX-License-Identifier: BSD-3-Clause
#include "verify/order_graph.hpp"

#include <algorithm>

namespace entrain::verify {

namespace {

constexpr std::uint32_t k_peeled = 0xFFFFFFFFu;  ///< in incoming_
constexpr std::uint32_t k_closed = 0xFFFFFFFFu;  ///< index of vertices of finished components

}  // namespace

void OrderGraph::clear() {
  named_.clear();
  extra_ = 0;
}

std::uint64_t OrderGraph::add_vertex() { return k_vertex_bit | extra_++; }

OrderGraph::Vertex OrderGraph::vertex_of(std::uint64_t key) const {
  if ((key & k_vertex_bit) != 0) {
    return static_cast<Vertex>(nodes_.size() + (key & ~k_vertex_bit));
  }
  return static_cast<Vertex>(std::lower_bound(nodes_.begin(), nodes_.end(), key) -
                             nodes_.begin());
}

bool OrderGraph::follows(Vertex v) const {
  return v > 0 && v < nodes_.size() && nodes_[v] >> 32 == nodes_[v - 1] >> 32;
}

void OrderGraph::build() {
  nodes_.clear();
  for (const auto& [from, to] : named_) {
    if ((from & k_vertex_bit) == 0) nodes_.push_back(from);
    if ((to & k_vertex_bit) == 0) nodes_.push_back(to);
  }
  std::sort(nodes_.begin(), nodes_.end());
  nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
  const std::size_t vertices = nodes_.size() + extra_;
  arcs_.clear();
  first_.assign(vertices + 1, 0);
  incoming_.assign(vertices, 0);
  for (const auto& [from, to] : named_) {
    arcs_.push_back({vertex_of(from), vertex_of(to)});
    ++first_[arcs_.back().first + 1];
    ++incoming_[arcs_.back().second];
  }
  for (std::size_t v = 0; v < vertices; ++v) first_[v + 1] += first_[v];
  targets_.resize(arcs_.size());
  low_.assign(first_.begin(), first_.end() - 1);  // how far each vertex is filled
  for (const auto& [from, to] : arcs_) targets_[low_[from]++] = to;
  for (Vertex v = 0; v < nodes_.size(); ++v) {
    if (follows(v)) ++incoming_[v];
  }
}

/// The k-th successor of a vertex; false after the last one. The next instant of the location is
/// the last successor and not stored.
bool OrderGraph::successor(Vertex v, std::uint32_t k, Vertex& to) const {
  const std::uint32_t stored = first_[v + 1] - first_[v];
  if (k < stored) {
    to = targets_[first_[v] + k];
    return true;
  }
  to = v + 1;
  return k == stored && v < nodes_.size() && follows(to);
}

/// Takes away vertices without predecessor until none is left. True if some stay: the cycles, and
/// what comes after them.
bool OrderGraph::peel() {
  path_.clear();
  for (Vertex v = 0; v < incoming_.size(); ++v) {
    if (incoming_[v] == 0) path_.push_back(v);
  }
  std::size_t peeled = 0;
  while (!path_.empty()) {
    const Vertex v = path_.back();
    path_.pop_back();
    incoming_[v] = k_peeled;
    ++peeled;
    Vertex to = 0;
    for (std::uint32_t k = 0; successor(v, k, to); ++k) {
      if (--incoming_[to] == 0) path_.push_back(to);
    }
  }
  return peeled < incoming_.size();
}

/// Tarjan's algorithm without recursion, on the vertices that are left.
void OrderGraph::search_all(std::uint32_t& next) {
  index_.assign(incoming_.size(), 0);  // 0: not seen yet
  low_.assign(incoming_.size(), 0);
  component_.assign(nodes_.size(), k_open);
  clock_ = 0;
  for (Vertex v = 0; v < incoming_.size(); ++v) {
    if (incoming_[v] != k_peeled && index_[v] == 0) search(v, next);
  }
}

void OrderGraph::open(Vertex v) {
  index_[v] = low_[v] = ++clock_;
  path_.push_back(v);
  frames_.push_back({v, 0});
}

void OrderGraph::search(Vertex root, std::uint32_t& next) {
  open(root);
  while (!frames_.empty()) {
    const Vertex v = frames_.back().vertex;
    Vertex to = 0;
    if (successor(v, frames_.back().successor, to)) {
      ++frames_.back().successor;
      if (incoming_[to] == k_peeled || index_[to] == k_closed) continue;
      if (index_[to] == 0) {
        open(to);
      } else {
        low_[v] = std::min(low_[v], index_[to]);
      }
      continue;
    }
    frames_.pop_back();
    if (!frames_.empty()) {
      const Vertex parent = frames_.back().vertex;
      low_[parent] = std::min(low_[parent], low_[v]);
    }
    if (low_[v] == index_[v]) close(v, next);
  }
}

/// Everything on the path from v on is one component; one with a single instant is no cycle.
void OrderGraph::close(Vertex v, std::uint32_t& next) {
  auto first = path_.end();
  std::uint32_t instants = 0;
  do {
    --first;
    index_[*first] = k_closed;
    if (*first < nodes_.size()) ++instants;
  } while (*first != v);
  if (instants > 1) {
    for (auto member = first; member != path_.end(); ++member) {
      if (*member < nodes_.size()) component_[*member] = next;
    }
    ++next;
  }
  path_.erase(first, path_.end());
}

}  // namespace entrain::verify
