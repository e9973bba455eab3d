// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "causal/project.hpp"
#include "constraints/testing.hpp"
#include "difference/oracle_testing.hpp"
#include "trace/testing.hpp"

namespace entrain::causal::testing {

using difference::Event;

inline constexpr std::int64_t k_rate_ppb = 250'000;

/// A small random trace: its graph, the same constraints pair by pair, and an estimate of its
/// clocks.
class RandomClocks {
 public:
  explicit RandomClocks(std::uint64_t seed) : random_(seed, 1) {
    clocks_ = 2 + static_cast<std::uint32_t>(below(7));
    length_ = pick({10'000, 1'000'000, 100'000'000});
    latency_ = pick({3, 100, 5'000});
    if (below(3) == 0) mu_ = {0, 1, 2};
    std::vector<std::uint32_t> domain_of;
    for (std::uint32_t c = 0; c < clocks_; ++c) {
      domain_of.push_back(c > 0 && below(8) == 0 ? domain_of.back() : c);
      process_of_.push_back(below(4) == 0 && c > 0 ? c - 1 : c);
      machine_of_.push_back(process_of_.back() / 3);
      rate_.push_back(static_cast<std::int64_t>(below(2 * k_rate_ppb)) - k_rate_ppb);
      offset_.push_back(static_cast<std::int64_t>(below(20'000)));
    }
    for (std::uint32_t c = 1; c < clocks_; ++c) {
      if (domain_of[c] == c) continue;
      rate_[c] = rate_[c - 1], offset_[c] = offset_[c - 1];
    }
    domains_ = trace::domains_by(domain_of);
    const std::uint64_t events = 2 + below(pick({6, 16}));
    for (std::uint64_t i = 0; i < events; ++i) below(5) == 0 ? add_collective() : add_message();
    build();
  }

  [[nodiscard]] std::vector<ClockMap> estimate() {
    std::vector<ClockMap> maps(clocks_);
    const std::uint64_t kind = below(3);
    for (const auto& members : domains_.members) {
      const LocationIndex l = members.front();
      if (kind == 0 || (kind == 1 && l == 0)) continue;
      const auto noise = [&] { return static_cast<std::int64_t>(below(200)) - 100; };
      const ClockMap map =
          *ClockMap::from_knots({{k_begin, -offset_[l] + noise()},
                                 {k_begin + static_cast<std::uint64_t>(length_),
                                  -offset_[l] - rate_[l] * length_ / k_billion + noise()}});
      for (const LocationIndex member : members) maps[member] = map;
    }
    return maps;
  }

  [[nodiscard]] constraints::Context context() {
    return {.share = {solo_, partition_, trace_}, .graph = graph_, .mu = mu_, .threads = 1};
  }
  [[nodiscard]] const trace::ClockDomains& domains() const { return domains_; }
  /// All constraints, pair by pair; events have stamps.
  [[nodiscard]] const std::vector<difference::Edge>& pairs() const { return pairs_; }

  /// Limits mean rates further, to a part of what clocks may have.
  void limit_means(std::int64_t mean_ppb) { mean_ppb_ = mean_ppb; }

  [[nodiscard]] Result<Projection> project(std::vector<ClockMap>& maps) {
    constraints::Context context = this->context();
    context.reference.consensus = below(2) == 0;
    const auto has_events = [&](const auto& members) {
      return std::ranges::any_of(
          members, [&](LocationIndex l) { return trace_.locations[l].event_count > 0; });
    };
    const auto first = std::ranges::find_if(domains_.members, has_events);
    const bool is_held = !context.reference.consensus && maps[first->front()].is_identity();
    held_ = is_held ? domains_.of[first->front()] : clocks_;
    return project_onto_edges(context, domains_, {k_rate_ppb, mean_ppb_, true}, maps);
  }

  /// Whether clocks exist that meet all pairs; after project().
  [[nodiscard]] bool is_feasible() const {
    using difference::RateRange;
    std::vector<difference::ClockLimits> limits(clocks_ + 1,
                                                {.rate = RateRange::within(k_rate_ppb)});
    for (const auto& [clock, life] : lives()) {
      limits[clock].mean = difference::MeanLimit{
          .rates = RateRange::within(mean_ppb_), .first = life.first, .last = life.second};
    }
    return difference::Oracle({.clocks = limits, .reference = held_, .edges = pairs_}).feasible();
  }

  [[nodiscard]] std::size_t violations(const std::vector<ClockMap>& maps) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(pairs_, [&](const difference::Edge& pair) {
          return time(maps, pair.effect) < time(maps, pair.cause) + pair.delay;
        }));
  }

  /// Largest rate between two stamps of edges, beyond the limit and a tick.
  [[nodiscard]] bool is_within_rates(const std::vector<ClockMap>& maps) const {
    std::map<std::uint32_t, std::set<std::int64_t>> stamps;
    for (const difference::Edge& pair : pairs_) {
      for (const Event& event : {pair.cause, pair.effect}) stamps[event.clock].insert(event.stamp);
    }
    for (const auto& [clock, life] : lives()) {
      const auto& [first, last] = life;
      const std::int64_t rise = time(maps, {clock, last}) - time(maps, {clock, first});
      if (std::abs(rise - (last - first)) > (last - first) * mean_ppb_ / k_billion + 2)
        return false;
    }
    for (const auto& [clock, own] : stamps) {
      std::int64_t before = *own.begin();
      for (const std::int64_t stamp : own) {
        const std::int64_t change =
            time(maps, {clock, stamp}) - time(maps, {clock, before}) - (stamp - before);
        if (std::abs(change) > (stamp - before) * k_rate_ppb / k_billion + 2) return false;
        before = stamp;
      }
    }
    return true;
  }

  /// First and last stamp of each clock.
  [[nodiscard]] std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> lives() const {
    std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> lives;
    for (LocationIndex l = 0; l < clocks_; ++l) {
      const trace::LocationSkeleton& location = trace_.locations[l];
      if (location.event_count == 0) continue;
      const auto first = static_cast<std::int64_t>(location.first);
      const auto last = static_cast<std::int64_t>(location.last);
      auto& life = lives.try_emplace(domains_.of[l], first, last).first->second;
      life = {std::min(life.first, first), std::max(life.second, last)};
    }
    return lives;
  }

 private:
  static constexpr std::uint64_t k_begin = 1'000'000'000;

  struct Pairing {
    EdgeKind kind = EdgeKind::p2p;
    std::vector<std::pair<LocationIndex, std::uint64_t>> begins, ends;
    bool ordered = false;
  };

  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  std::int64_t pick(std::vector<std::int64_t> of) { return of[below(of.size())]; }

  [[nodiscard]] std::uint64_t stamp_at(LocationIndex l, std::int64_t time) const {
    return k_begin + static_cast<std::uint64_t>(time + offset_[l] + rate_[l] * time / k_billion);
  }
  [[nodiscard]] std::int64_t time(const std::vector<ClockMap>& maps, const Event& event) const {
    return maps[domains_.members[event.clock].front()](static_cast<std::uint64_t>(event.stamp));
  }

  void add_message() {
    const auto from = static_cast<LocationIndex>(below(clocks_));
    const auto to = static_cast<LocationIndex>((from + 1 + below(clocks_ - 1)) % clocks_);
    const auto sent = static_cast<std::int64_t>(below(static_cast<std::uint64_t>(length_)));
    const bool is_wrong = below(100) == 0;
    const std::int64_t way =
        is_wrong ? -latency_ : 3 + latency_ / 2 + static_cast<std::int64_t>(below(latency_bound()));
    pairings_.push_back({.kind = EdgeKind::p2p,
                         .begins = {{from, stamp_at(from, sent)}},
                         .ends = {{to, stamp_at(to, std::max<std::int64_t>(0, sent + way))}},
                         .ordered = false});
  }
  [[nodiscard]] std::uint64_t latency_bound() const {
    return static_cast<std::uint64_t>(2 * latency_);
  }

  void add_collective() {
    Pairing call;
    call.kind = EdgeKind::n_to_n;
    call.ordered = below(3) == 0;
    const auto begin = static_cast<std::int64_t>(below(static_cast<std::uint64_t>(length_)));
    for (LocationIndex l = 0; l < clocks_; ++l) {
      if (below(4) == 0) continue;
      const auto wait = static_cast<std::int64_t>(below(latency_bound()));
      call.begins.emplace_back(l, stamp_at(l, begin + wait));
      call.ends.emplace_back(l, stamp_at(l, begin + 3 * latency_ + wait));
    }
    if (!call.begins.empty()) pairings_.push_back(std::move(call));
  }

  [[nodiscard]] NodeIndex node_of(LocationIndex l, std::uint64_t stamp) const {
    const auto begin = graph_.stamp.begin() + graph_.first_node[l];
    const auto end = graph_.stamp.begin() + graph_.first_node[l + 1];
    return static_cast<NodeIndex>(std::lower_bound(begin, end, stamp) - graph_.stamp.begin());
  }

  void build() {
    trace_ = trace::testing::TraceBuilder(clocks_).trace();
    partition_ = trace::undivided(trace_.definitions);
    graph_.process_of = process_of_;
    graph_.node_of = machine_of_;
    std::vector<std::set<std::uint64_t>> stamps(clocks_);
    for (const Pairing& pairing : pairings_) {
      for (const auto& [l, stamp] : pairing.begins) stamps[l].insert(stamp);
      for (const auto& [l, stamp] : pairing.ends) stamps[l].insert(stamp);
    }
    graph_.first_node = {0};
    for (LocationIndex l = 0; l < clocks_; ++l) {
      graph_.stamp.insert(graph_.stamp.end(), stamps[l].begin(), stamps[l].end());
      graph_.first_node.push_back(static_cast<NodeIndex>(graph_.stamp.size()));
      trace::LocationSkeleton& location = trace_.locations[l];
      location.event_count = stamps[l].size();
      if (stamps[l].empty()) continue;
      location.first = *stamps[l].begin();
      location.last = *stamps[l].rbegin();
    }
    for (const Pairing& pairing : pairings_) add(pairing);
    std::ranges::stable_sort(graph_.edges, {}, &match::Edge::receive);
  }

  void add(const Pairing& pairing) {
    for (std::uint32_t i = 0; i < pairing.begins.size(); ++i) {
      for (std::uint32_t j = 0; j < pairing.ends.size(); ++j) {
        if (!pairing.ordered || i < j) add_pair(pairing.begins[i], pairing.ends[j]);
      }
    }
    if (pairing.kind == EdgeKind::p2p) {
      const auto [from, sent] = pairing.begins.front();
      const auto [to, received] = pairing.ends.front();
      graph_.edges.push_back({.send = node_of(from, sent),
                              .receive = node_of(to, received),
                              .kind = EdgeKind::p2p,
                              .latency_class = graph_.latency_class(from, to)});
      return;
    }
    match::Exchange exchange{.kind = pairing.kind, .ordered = pairing.ordered};
    const auto put = [&](const auto& side, std::uint32_t& first, std::uint32_t& count) {
      first = static_cast<std::uint32_t>(graph_.participants.size());
      for (const auto& [l, stamp] : side) {
        graph_.participants.push_back({node_of(l, stamp), l, count++});
      }
    };
    put(pairing.begins, exchange.first_send, exchange.send_count);
    put(pairing.ends, exchange.first_receive, exchange.receive_count);
    graph_.exchanges.push_back(exchange);
  }

  void add_pair(std::pair<LocationIndex, std::uint64_t> begin,
                std::pair<LocationIndex, std::uint64_t> end) {
    const std::uint32_t from = domains_.of[begin.first], to = domains_.of[end.first];
    if (from == to) return;
    const auto kind = graph_.latency_class(begin.first, end.first);
    pairs_.push_back({{from, static_cast<std::int64_t>(begin.second)},
                      {to, static_cast<std::int64_t>(end.second)},
                      mu_[static_cast<std::size_t>(kind)]});
  }

  RandomStream random_;
  std::uint32_t clocks_ = 0;
  std::int64_t length_ = 0, latency_ = 0;
  MuTicks mu_{};
  std::vector<std::uint32_t> process_of_, machine_of_;
  std::vector<std::int64_t> rate_, offset_;  ///< how far stamps are ahead of the truth
  std::vector<Pairing> pairings_;
  std::vector<difference::Edge> pairs_;
  trace::ClockDomains domains_;
  Solo solo_;
  trace::Trace trace_;
  trace::Partition partition_;
  match::Graph graph_;
  std::int64_t mean_ppb_ = k_rate_ppb;
  std::uint32_t held_ = 0;  ///< domain of the reference; clocks_: none
};

}  // namespace entrain::causal::testing
