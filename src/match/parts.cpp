// SPDX-License-Identifier: BSD-3-Clause
#include "match/parts.hpp"

namespace entrain::match {

namespace {

/// So many edges and participants are worth the start of one more thread.
constexpr std::size_t k_least_work = std::size_t{1} << 15;

template <class Item>
std::span<const Item> share(std::span<const Item> all, std::size_t i, std::size_t count) {
  const std::size_t begin = all.size() * i / count, end = all.size() * (i + 1) / count;
  return all.subspan(begin, end - begin);
}

}  // namespace

std::vector<Part> parts_of(const Graph& graph, unsigned threads) {
  const std::size_t work = graph.edges.size() + graph.participants.size();
  const std::size_t count =
      std::clamp<std::size_t>(work / k_least_work, 1, std::max(worker_count(threads), 1u));
  const std::span<const Edge> edges(graph.edges.data(), graph.edges.size());
  const std::span<const Exchange> exchanges(graph.exchanges.data(), graph.exchanges.size());
  std::vector<Part> parts;
  for (std::size_t i = 0; i < count; ++i) {
    parts.push_back({share(edges, i, count), share(exchanges, i, count)});
  }
  return parts;
}

}  // namespace entrain::match
