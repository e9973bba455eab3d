// SPDX-License-Identifier: BSD-3-Clause
#include "match/parts.hpp"

namespace entrain::match {

namespace {

/// Least number of edges and participants per thread; chosen, not measured.
constexpr std::size_t k_least_work = std::size_t{1} << 15;

/// Returns the end of range `i` if numbers below `size` are cut into `count` ranges.
std::size_t end_of(std::size_t size, std::size_t i, std::size_t count) {
  return size * (i + 1) / count;
}

/// Returns the end of range `i` of exchanges, cut by participants: calls of a few processes may
/// follow calls of thousands.
std::size_t end_of_exchanges(const Graph& graph, std::size_t i, std::size_t count) {
  if (i + 1 == count) return graph.exchanges.size();
  const std::size_t participants = end_of(graph.participants.size(), i, count);
  const auto end = std::partition_point(
      graph.exchanges.begin(), graph.exchanges.end(),
      [&](const Exchange& exchange) { return exchange.first_send < participants; });
  return static_cast<std::size_t>(end - graph.exchanges.begin());
}

}  // namespace

std::vector<Part> parts_of(const Graph& graph, unsigned threads) {
  const std::size_t work = graph.edges.size() + graph.participants.size();
  const std::size_t count =
      std::clamp<std::size_t>(work / k_least_work, 1, std::max(worker_count(threads), 1u));
  const std::span<const Edge> edges(graph.edges.data(), graph.edges.size());
  const std::span<const Exchange> exchanges(graph.exchanges.data(), graph.exchanges.size());
  std::vector<Part> parts;
  std::size_t edge = 0, exchange = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t edge_end = end_of(edges.size(), i, count);
    const std::size_t exchange_end = std::max(exchange, end_of_exchanges(graph, i, count));
    parts.push_back({edges.subspan(edge, edge_end - edge),
                     exchanges.subspan(exchange, exchange_end - exchange)});
    edge = edge_end;
    exchange = exchange_end;
  }
  return parts;
}

}  // namespace entrain::match
