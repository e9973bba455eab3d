// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/unreliable_ends.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "formats/spans/likely_clock.hpp"

namespace entrain::spans {
namespace {

/// Bits to tell that an edge does not hold; unreliable_ends_test.cpp holds these together.
struct EdgePrices {
  static constexpr std::int32_t begin = 40;  ///< two ends, before anything is known of ends
  static constexpr std::int32_t end = 20;    ///< the client did not wait: as explain::Prices::pair
  static constexpr std::int32_t link = 6;    ///< as explain::Prices::weak
  /// Most of an end once some are contradicted: one alone says less than that a clock is right.
  static constexpr std::int32_t doubted_end = ClockPrices::wrong - 2;
  static constexpr double prior_ends = 2;  ///< ends of all operations that count for each
};

constexpr int k_most_rounds = 16;  ///< most times that each clock is fitted
constexpr std::int64_t k_most_offset = std::int64_t{1} << 61;  ///< ns

using Operations = std::map<std::uint32_t, DroppedEnds>;  ///< key: number

DroppedEnds ends_of(const Operations& operations, std::uint32_t operation) {
  const auto known = operations.find(operation);
  return known == operations.end() ? DroppedEnds() : known->second;
}

/// The clocks that explain the edges at the least price, each given the others: coordinate descent.
class ClockSearch {
 public:
  ClockSearch(const Spans& spans, std::size_t hosts, std::span<const Edge> edges)
      : spans_(spans),
        edges_(edges),
        of_host_(hosts),
        own_bits_(hosts, 0),
        price_(edges.size()),
        shown_twice_(edges.size(), 0) {
    for (auto* own : {&cause_offset_, &effect_offset_}) own->assign(edges.size(), 0);
    for (std::uint32_t e = 0; e < edges.size(); ++e) {
      if (edges[e].rejection != Rejection::none) continue;
      price_[e] = edges[e].is_link  ? EdgePrices::link
                  : edges[e].is_end ? EdgePrices::end
                                    : EdgePrices::begin;
      of_host_[edges[e].cause].push_back(e);
      of_host_[edges[e].effect].push_back(e);
    }
  }

  /// True if an edge does not hold.
  [[nodiscard]] bool is_broken(std::uint32_t e) const {
    return time(edges_[e].cause_time, cause_offset_[e]) >
           time(edges_[e].effect_time, effect_offset_[e]);
  }

  /// Fits the clocks, first the one whose fit gains most.
  void fit() {
    for (int round = 0; round < k_most_rounds; ++round) {
      std::vector<std::pair<std::int32_t, std::uint32_t>> gains;
      for (std::uint32_t host = 0; host < of_host_.size(); ++host) {
        const std::int32_t gain = bits(host) == 0 ? 0 : gain_of(host, false);
        if (gain > 0) gains.emplace_back(-gain, host);
      }
      if (gains.empty()) return;
      std::sort(gains.begin(), gains.end());
      for (const auto& [gain, host] : gains) gain_of(host, true);
    }
  }

  /// Lowers the prices of ends to what those of their operations deserve.
  void doubt(const Operations& operations) {
    double broken = 0, all = 0;
    for (const auto& [operation, ends] : operations) {
      broken += static_cast<double>(ends.dropped);
      all += static_cast<double>(ends.total);
    }
    const double prior = EdgePrices::prior_ends;
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      if (price_[e] == 0 || !edges_[e].is_end) continue;
      const DroppedEnds ends = ends_of(operations, spans_.all[edges_[e].child].operation);
      const double share = (static_cast<double>(ends.dropped) + prior * broken / all) /
                           (static_cast<double>(ends.total) + prior);
      price_[e] = std::clamp(static_cast<std::int32_t>(std::lround(-std::log2(share))), 1,
                             EdgePrices::doubted_end);
    }
  }

  /// True if an edge has an end at a time that a clock shows twice, since it was set back.
  [[nodiscard]] bool is_shown_twice(std::uint32_t e) const { return shown_twice_[e] != 0; }

  [[nodiscard]] Operations operations() const {
    Operations operations;
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      if (price_[e] == 0 || !edges_[e].is_end || is_shown_twice(e)) continue;
      DroppedEnds& ends = operations[spans_.all[edges_[e].child].operation];
      ends.dropped += is_broken(e) ? 1U : 0U;
      ++ends.total;
    }
    return operations;
  }

 private:
  static std::int64_t time(std::uint64_t stamp, std::int64_t offset) {
    return static_cast<std::int64_t>(stamp) + offset;
  }
  [[nodiscard]] std::int32_t bits_of_edges(std::uint32_t host) const {
    return std::accumulate(
        of_host_[host].begin(), of_host_[host].end(), 0,
        [&](std::int32_t sum, std::uint32_t e) { return sum + (is_broken(e) ? price_[e] : 0); });
  }
  /// Price of a clock with its edges, bits.
  [[nodiscard]] std::int32_t bits(std::uint32_t host) const {
    return own_bits_[host] + bits_of_edges(host);
  }
  /// A bound that an edge sets to a clock.
  struct HostBound {
    Bound bound;
    std::uint32_t edge = 0;
  };
  std::int64_t& own_offset(std::uint32_t host, std::uint32_t e) {
    return edges_[e].cause == host ? cause_offset_[e] : effect_offset_[e];
  }
  [[nodiscard]] std::uint64_t own_stamp(std::uint32_t host, std::uint32_t e) const {
    return edges_[e].cause == host ? edges_[e].cause_time : edges_[e].effect_time;
  }
  /// The bounds of a clock, in order of the times of the others.
  [[nodiscard]] std::vector<HostBound> bounds_of(std::uint32_t host) const {
    std::vector<HostBound> bounds;
    for (const std::uint32_t e : of_host_[host]) {
      const Edge& edge = edges_[e];
      const bool is_cause = edge.cause == host;
      const std::int64_t other = is_cause ? time(edge.effect_time, effect_offset_[e])
                                          : time(edge.cause_time, cause_offset_[e]);
      const std::int64_t offset = other - time(own_stamp(host, e), 0);
      bounds.push_back({{.time = other,
                         .offset = std::clamp(offset, -k_most_offset, k_most_offset),
                         .is_upper = is_cause,
                         .price = price_[e]},
                        e});
    }
    std::ranges::stable_sort(bounds, {}, [](const HostBound& one) { return one.bound.time; });
    return bounds;
  }
  /// Gives stamps that a clock shows twice the offsets that they have later, since a map of its
  /// times can give only one. Returns the positions of their bounds.
  [[nodiscard]] std::vector<std::size_t> take_later_offsets(std::uint32_t host,
                                                            std::span<const HostBound> own,
                                                            LikelyClock& clock) const {
    std::vector<std::size_t> twice;
    if (clock.bits < ClockPrices::step) return twice;
    std::vector<std::uint64_t> least(own.size() + 1, ~std::uint64_t{0});  // stamp from here on
    for (std::size_t i = own.size(); i-- > 0;) {
      least[i] = std::min(least[i + 1], own_stamp(host, own[i].edge));
    }
    const auto broken = [&](std::size_t i) {
      return holds(own[i].bound, clock.offsets[i]) ? 0 : own[i].bound.price;
    };
    std::vector<std::size_t> jumps;
    for (std::size_t i = 1; i < own.size(); ++i) {
      const std::int64_t gain = clock.offsets[i] - clock.offsets[i - 1];
      const std::int64_t passed = own[i].bound.time - own[i - 1].bound.time;
      if (gain > passed / 1000 + 1) jumps.push_back(i);
    }
    for (std::size_t j = 0; j < own.size(); ++j) {
      // `least` never falls: the last jump that shows this stamp again.
      const auto after = std::ranges::upper_bound(jumps, own_stamp(host, own[j].edge), {},
                                                  [&](std::size_t i) { return least[i]; });
      if (after == jumps.begin() || *std::prev(after) <= j) continue;
      clock.bits -= broken(j);
      clock.offsets[j] = clock.offsets[*std::prev(after)];
      clock.bits += broken(j);
      twice.push_back(j);
    }
    return twice;
  }

  /// Finds by how many bits the likely clock of a host is cheaper, and takes it if `takes`.
  std::int32_t gain_of(std::uint32_t host, bool takes) {
    const std::vector<HostBound> own = bounds_of(host);
    std::vector<Bound> bounds;
    for (const HostBound& one : own) bounds.push_back(one.bound);
    LikelyClock likely = likely_clock(bounds);
    const std::vector<std::size_t> twice = take_later_offsets(host, own, likely);
    const std::int32_t gain = bits(host) - likely.bits;
    if (!takes || gain <= 0) return gain;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::uint32_t e = own[i].edge;
      own_offset(host, e) = likely.offsets[i];
      shown_twice_[e] &= ~side_of(host, e);
    }
    for (const std::size_t i : twice) shown_twice_[own[i].edge] |= side_of(host, own[i].edge);
    own_bits_[host] = likely.bits - bits_of_edges(host);
    return gain;
  }
  /// A bit for each end of an edge.
  [[nodiscard]] unsigned side_of(std::uint32_t host, std::uint32_t e) const {
    return edges_[e].cause == host ? 1U : 2U;
  }

  const Spans& spans_;
  std::span<const Edge> edges_;
  std::vector<std::vector<std::uint32_t>> of_host_;  ///< positions of edges
  std::vector<std::int32_t> own_bits_;               ///< price of each clock without edges
  std::vector<std::int32_t> price_;                  ///< price of each edge; 0: no evidence
  std::vector<unsigned> shown_twice_;                ///< sides of each edge, see side_of()
  std::vector<std::int64_t> cause_offset_,
      effect_offset_;  ///< corrections of the ends of edges, ns
};

/// Rejects the ends that do not hold, and all of operations of which most do not.
RejectedEnds reject(const Spans& spans, const ClockSearch& clocks, std::vector<Edge>& edges) {
  RejectedEnds rejected;
  const Operations operations = clocks.operations();
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    Edge& edge = edges[e];
    if (edge.rejection != Rejection::none) continue;
    const DroppedEnds ends = ends_of(operations, spans.all[edge.child].operation);
    if (clocks.is_broken(e) && clocks.is_shown_twice(e)) {
      edge.rejection = Rejection::shown_twice;
      ++rejected.shown_twice;
    } else if (edge.is_end && clocks.is_broken(e)) {
      edge.rejection = Rejection::contradicted;
      ++rejected.contradicted;
    } else if (edge.is_end && 2 * ends.dropped > ends.total) {
      edge.rejection = Rejection::operation;
      ++rejected.asynchronous;
    }
  }
  for (const auto& [operation, ends] : operations) {
    if (ends.dropped == 0) continue;
    rejected.operations.push_back(ends);
    rejected.operations.back().operation = spans.operations.all()[operation];
  }
  std::stable_sort(
      rejected.operations.begin(), rejected.operations.end(),
      [](const DroppedEnds& a, const DroppedEnds& b) { return a.dropped > b.dropped; });
  return rejected;
}

}  // namespace

RejectedEnds mark_unreliable_ends(const Spans& spans, std::size_t hosts, std::vector<Edge>& edges) {
  ClockSearch clocks(spans, hosts, edges);
  clocks.fit();
  const Operations before = clocks.operations();
  if (std::ranges::any_of(before, [](const auto& one) { return one.second.dropped > 0; })) {
    clocks.doubt(before);
    clocks.fit();
  }
  return reject(spans, clocks, edges);
}

}  // namespace entrain::spans
