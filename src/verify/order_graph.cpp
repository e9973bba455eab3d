// SPDX-License-Identifier: BSD-3-Clause
#include "verify/order_graph.hpp"

#include <algorithm>

namespace entrain::verify {

namespace {

constexpr std::size_t k_few = 32;  ///< most instants that are sorted; chosen, not measured
constexpr std::uint32_t k_peeled = 0xFFFFFFFFu;  ///< value in incoming_ of removed vertices
constexpr std::uint32_t k_closed = 0xFFFFFFFFu;  ///< index of vertices of finished components

}  // namespace

void InstantNumbers::begin(std::size_t count) {
  dense_ = count > k_few;
  count_ = 0;
  few_.clear();
  for (const LocationIndex l : touched_) stretches_[l] = {};
  touched_.clear();
}

void InstantNumbers::include(EventRef instant) {
  if (stretches_.empty()) stretches_.resize(places_->location_count());
  Stretch& stretch = stretches_[instant.location];
  if (stretch.first == k_none) touched_.push_back(instant.location);
  stretch.first = std::min(stretch.first, instant.event);
  stretch.last = std::max(stretch.last, instant.event);
}

void InstantNumbers::lay_out() {
  std::sort(touched_.begin(), touched_.end());
  std::uint64_t next = 0;
  for (const LocationIndex l : touched_) {
    stretches_[l].begin = next;
    next += std::uint64_t{stretches_[l].last} - stretches_[l].first + 1;
  }
  bits_.assign((next + 63) / 64, 0);
}

void InstantNumbers::count_bits() {
  before_.clear();
  for (const std::uint64_t word : bits_) {
    before_.push_back(count_);
    count_ += static_cast<std::uint32_t>(__builtin_popcountll(word));
  }
}

void InstantNumbers::sort_few() {
  std::sort(few_.begin(), few_.end());
  few_.erase(std::unique(few_.begin(), few_.end()), few_.end());
  count_ = static_cast<std::uint32_t>(few_.size());
}

std::uint32_t InstantNumbers::search(EventRef instant) const {
  return static_cast<std::uint32_t>(std::lower_bound(few_.begin(), few_.end(), instant) -
                                    few_.begin());
}

void OrderGraph::begin(std::span<const ClusterEdge> edges) {
  edges_ = edges;
  entries_.clear();
  exits_.clear();
  links_.clear();
  extra_ = 0;
}

template <class Use>
void OrderGraph::for_each_arc(Use use) const {
  const std::uint32_t instants = numbers_.count();
  for (const ClusterEdge& edge : edges_) use(numbers_[edge.from], numbers_[edge.to]);
  for (const auto& [from, vertex] : entries_) use(numbers_[from], instants + vertex);
  for (const auto& [to, vertex] : exits_) use(instants + vertex, numbers_[to]);
  for (const auto& [from, to] : links_) use(instants + from, instants + to);
}

void OrderGraph::build() {
  numbers_.assign(2 * edges_.size() + entries_.size() + exits_.size(), [&](const auto& add) {
    for (const ClusterEdge& edge : edges_) {
      add(edge.from);
      add(edge.to);
    }
    for (const auto& [from, vertex] : entries_) add(from);
    for (const auto& [to, vertex] : exits_) add(to);
  });
  const std::size_t vertices = std::size_t{numbers_.count()} + extra_;
  first_.assign(vertices + 1, 0);
  incoming_.assign(vertices, 0);
  for_each_arc([&](Vertex from, Vertex to) {
    ++first_[from + 1];
    ++incoming_[to];
  });
  for (std::size_t v = 0; v < vertices; ++v) first_[v + 1] += first_[v];
  targets_.resize(first_.back());
  low_.assign(first_.begin(), first_.end() - 1);  // next free target per vertex
  for_each_arc([&](Vertex from, Vertex to) { targets_[low_[from]++] = to; });
  follows_.assign(numbers_.count(), false);
  LocationIndex last = k_none;
  numbers_.for_each([&](Vertex v, EventRef instant) {
    follows_[v] = instant.location == last;
    if (follows_[v]) ++incoming_[v];
    last = instant.location;
  });
}

/// Finds the k-th successor of a vertex; false after the last one. The next instant of the same
/// location is the last successor; it is not stored.
bool OrderGraph::successor(Vertex v, std::uint32_t k, Vertex& to) const {
  const std::uint32_t stored = first_[v + 1] - first_[v];
  if (k < stored) {
    to = targets_[first_[v] + k];
    return true;
  }
  to = v + 1;
  return k == stored && to < follows_.size() && follows_[to];
}

/// Removes vertices without predecessor until there is none. True if vertices remain: those on
/// cycles, and those reachable from them.
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

/// Tarjan's algorithm without recursion, on the remaining vertices.
void OrderGraph::search_all(std::uint32_t& next) {
  index_.assign(incoming_.size(), 0);  // 0: not visited
  low_.assign(incoming_.size(), 0);
  component_.assign(numbers_.count(), k_open);
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

/// All vertices on the path from v on are one component; one with a single instant is no cycle.
void OrderGraph::close(Vertex v, std::uint32_t& next) {
  auto first = path_.end();
  std::uint32_t instants = 0;
  do {
    --first;
    index_[*first] = k_closed;
    if (*first < numbers_.count()) ++instants;
  } while (*first != v);
  if (instants > 1) {
    for (auto member = first; member != path_.end(); ++member) {
      if (*member < numbers_.count()) component_[*member] = next;
    }
    ++next;
  }
  path_.erase(first, path_.end());
}

}  // namespace entrain::verify
