// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <queue>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "match/ends.hpp"

namespace entrain::match {

/// A pair of the cheapest alignment, with its evidence in bits.
struct Candidate {
  std::int32_t send = 0, receive = 0;
  int margin = k_never;          ///< extra cost of the best alignment with another pair here
  int removal_margin = k_never;  ///< extra cost of the same alignment without this pair
};

/// A partial alignment: its last pair, and the delays up to it.
struct BeamState {
  Pair pair;
  Delays delays;
};

/// Finds the cheapest alignment of a stretch of receives: a beam search over the lattice of pairs.
/// A partial alignment stays in the beam if it costs at most W more than the cheapest one and is
/// among the N cheapest.
class BeamSearch {
 public:
  static constexpr std::int32_t k_whole = std::numeric_limits<std::int32_t>::max();

  explicit BeamSearch(const Ends& ends) : ends_(ends) {}

  /// Searches from receive `begin` on: a block of receives, or only until the cheapest alignment
  /// has converged after the receive `irregular` (k_whole: always a block). Adds its pairs to
  /// `candidates`, and moves `state` from its last pair before `begin` to its last decided one.
  void run(BeamState& state, std::int32_t begin, std::int32_t irregular,
           std::vector<Candidate>& candidates) {
    begin_ = begin;
    decided_ = std::min(ends_.receive_count(), begin_ + Beam::block);
    end_ = std::min(ends_.receive_count(), decided_ + Beam::lookahead);
    converged_ = false;
    const bool whole = irregular == k_whole;
    beam_cost_ = whole ? Beam::block_cost : Beam::around_cost;
    beam_size_ = whole ? Beam::block_size : Beam::around_size;
    nodes_.assign(1, {.pair = state.pair});
    delays_.assign(1, state.delays);
    steps_.clear();
    layers_.assign(1, 1);
    alive_.assign(1, 0);
    for (std::int32_t j = begin_; j < end_; ++j) {
      extend(j);
      if (!has_converged(j, irregular)) continue;
      converged_ = true;
      end_ = j + 1;
    }
    const bool last = end_ == ends_.receive_count() && !converged_;
    if (last) decided_ = end_;
    const int total = pass_backward(last);
    add_candidates(total, last, candidates);
    std::uint32_t at = best_end_;
    while (nodes_[at].pair.receive >= decided_) at = nodes_[at].parent;
    state = {nodes_[at].pair, delays_[at]};
  }

  [[nodiscard]] std::int32_t decided() const { return decided_; }
  /// True if run() ended because the cheapest alignment converged.
  [[nodiscard]] bool converged() const { return converged_; }
  [[nodiscard]] std::uint64_t examined_pairs() const { return examined_pairs_; }

 private:
  /// Thresholds of the beam search; chosen, not measured one by one. Their joint effect is bounded
  /// by tests/incomplete/pairs_test.cpp, and the work by align_records_test.cpp.
  struct Beam {
    static constexpr int reward = 4;  ///< negative cost of every pair, bits
    static constexpr std::int32_t block = 1024, lookahead = 160;  ///< receives decided, and beyond
    static constexpr int block_cost = 90, around_cost = 64;       ///< W of a block or a place, bits
    static constexpr std::size_t block_size = 96, around_size = 16;  ///< N, the same
    static constexpr std::int32_t least_run = 16;  ///< regular pairs before convergence
    static constexpr int lead = 40;  ///< least cost, in bits, of diverging alignments by then
  };

  /// The last pair of a partial alignment.
  struct Node {
    Pair pair;
    int cost = 0;        ///< cheapest partial alignment that ends here
    int rest = k_never;  ///< cheapest path from here to the end
    std::uint32_t parent = k_none;
    std::int32_t run = 0;        ///< number of consecutive regular pairs that end here
    std::size_t first_step = 0;  ///< first of the steps that lead here
  };
  struct Step {
    std::uint32_t from = 0;
    int cost = 0;
  };
  struct Found {
    std::int32_t send;
    std::uint32_t from;
    int cost;
  };

  void extend(std::int32_t receive) {
    found_.clear();
    int best = k_never;
    for (const std::uint32_t node : alive_) best = std::min(best, nodes_[node].cost);
    for (const std::uint32_t node : alive_) extend(node, receive, best);
    std::ranges::sort(found_, [](const Found& a, const Found& b) {
      return a.send != b.send ? a.send < b.send : a.from < b.from;
    });
    for (std::size_t k = 0; k < found_.size();) {
      alive_.push_back(static_cast<std::uint32_t>(nodes_.size()));
      add_node(receive, k);
      best = std::min(best, nodes_.back().cost);
    }
    layers_.push_back(nodes_.size());
    prune(best);
  }
  void extend(std::uint32_t from, std::int32_t receive, int best) {
    const Node node = nodes_[from];
    const Delays& delays = delays_[from];
    const Pair& pair = node.pair;
    const EndRecord& end = ends_.receives()[receive];
    const auto records = ends_.sends();
    std::array<std::int32_t, 16> sends{};
    std::size_t count = 0;
    const auto consider = [&](std::int32_t send) {
      if (send <= pair.send || send >= ends_.send_count()) return;
      std::size_t place = count;
      while (place > 0 && sends[place - 1] >= send) --place;
      if (place < count && sends[place] == send) return;
      for (std::size_t k = count++; k > place; --k) sends[k] = sends[k - 1];
      sends[place] = send;
    };
    for (const std::int32_t k : {1, 2, 3}) consider(pair.send + k);
    consider(pair.send + (receive - pair.receive));
    const std::int64_t position = std::int64_t{end.position} - pair.shift;
    const std::int32_t near = first_not(records, pair.send + 1, [&](const EndRecord& record) {
      return record.position < position;
    });
    for (const std::int32_t k : {-1, 0, 1}) consider(near + k);
    if (delays.count() > 0) {
      const std::int64_t wanted = difference(static_cast<std::int64_t>(end.time), delays.median());
      const std::int32_t then = first_not(records, pair.send + 1, [&](const EndRecord& record) {
        return static_cast<std::int64_t>(record.time) < wanted;
      });
      for (const std::int32_t k : {-2, -1, 0, 1}) consider(then + k);
    }
    examined_pairs_ += count;
    for (std::size_t k = 0; k < count; ++k) {
      const std::int32_t send = sends[k];
      if (!ends_.may_pair(send, receive)) continue;
      const int cost = ends_.gap_cost(pair, send, receive, ends_.shift(send, receive)) +
                       ends_.delay_cost(delays, send, receive) - Beam::reward;
      if (node.cost + cost <= best + beam_cost_) found_.push_back({send, from, cost});
    }
  }
  /// Adds the node of found_[found], and advances `found` past its steps.
  void add_node(std::int32_t receive, std::size_t& found) {
    const std::int32_t send = found_[found].send;
    Node node{.pair = {send, receive, ends_.shift(send, receive)},
              .cost = k_never,
              .first_step = steps_.size()};
    for (; found < found_.size() && found_[found].send == send; ++found) {
      steps_.push_back({found_[found].from, found_[found].cost});
      const int cost = nodes_[found_[found].from].cost + found_[found].cost;
      if (cost >= node.cost) continue;
      node.cost = cost;
      node.parent = found_[found].from;
    }
    const Node& from = nodes_[node.parent];
    if (from.pair.send + 1 == send && from.pair.receive + 1 == receive &&
        ends_.is_regular(from.pair, delays_[node.parent])) {
      node.run = from.run + 1;
    }
    nodes_.push_back(node);
    delays_.push_back(delays_[node.parent]);
    ends_.add(send, receive, delays_.back());
  }
  void prune(int best) {
    std::erase_if(alive_, [&](std::uint32_t n) { return nodes_[n].cost > best + beam_cost_; });
    if (alive_.size() <= beam_size_) return;
    std::ranges::sort(alive_, [&](std::uint32_t a, std::uint32_t b) {
      return nodes_[a].cost != nodes_[b].cost ? nodes_[a].cost < nodes_[b].cost : a > b;
    });
    alive_.resize(beam_size_);
  }
  /// True if the cheapest alignment ends in a run of regular pairs, and all others in the beam
  /// contain the pair in the middle of the run or cost much more. Then the first half of the run is
  /// decided. Checked at runs of 16, 32, 64, ... pairs only, to keep it cheap.
  [[nodiscard]] bool has_converged(std::int32_t receive, std::int32_t irregular) {
    const auto latest = std::span(nodes_).subspan(layers_[layers_.size() - 2]);
    if (receive < irregular || latest.empty()) return false;
    const Node& best = *std::min_element(
        latest.begin(), latest.end(), [](const Node& a, const Node& b) { return a.cost < b.cost; });
    if (receive - best.run < irregular || best.run < Beam::least_run ||
        (best.run & (best.run - 1)) != 0) {
      return false;
    }
    const auto pair_at = [&](std::uint32_t n, std::int32_t end) {
      while (nodes_[n].pair.receive >= end) n = nodes_[n].parent;
      return n;
    };
    const std::int32_t end = receive + 1 - best.run / 2;
    const std::uint32_t middle = pair_at(static_cast<std::uint32_t>(&best - nodes_.data()), end);
    const bool leads = std::ranges::all_of(alive_, [&](std::uint32_t n) {
      return nodes_[n].cost >= best.cost + Beam::lead || pair_at(n, end) == middle;
    });
    if (leads) decided_ = end;
    return leads;
  }
  /// Computes Node::rest from the last receive back. Returns the cost of the cheapest alignment.
  int pass_backward(bool last) {
    int total = k_never;
    for (const std::uint32_t n : alive_) {
      Node& node = nodes_[n];
      node.rest = last ? ends_.end_cost(node.pair) : 0;
      if (node.cost + node.rest >= total) continue;
      total = node.cost + node.rest;
      best_end_ = n;
    }
    for (std::size_t n = nodes_.size(); n-- > 1;) {
      if (nodes_[n].rest >= k_never) continue;  // pruned
      const std::size_t end = n + 1 < nodes_.size() ? nodes_[n + 1].first_step : steps_.size();
      for (std::size_t k = nodes_[n].first_step; k < end; ++k) {
        Node& from = nodes_[steps_[k].from];
        from.rest = std::min(from.rest, nodes_[n].rest + steps_[k].cost);
      }
    }
    return total;
  }
  /// Adds the pairs of the cheapest alignment with their margins.
  void add_candidates(int total, bool last, std::vector<Candidate>& candidates) {
    // An alignment without receive j has a step over it.
    struct Over {
      int cost;
      std::int32_t until;
      bool operator<(const Over& other) const { return cost > other.cost; }
    };
    std::vector<std::vector<Over>> begins(static_cast<std::size_t>(end_ - begin_));
    const auto add = [&](const Node& from, int cost, std::int32_t until) {
      const std::int32_t first = std::max(from.pair.receive + 1, begin_);
      if (first < until) begins[static_cast<std::size_t>(first - begin_)].push_back({cost, until});
    };
    std::vector<bool> is_best(nodes_.size(), false);
    for (std::uint32_t n = best_end_; n != k_none; n = nodes_[n].parent) is_best[n] = true;
    std::vector<int> without(static_cast<std::size_t>(end_ - begin_), k_never);
    const auto leave_out = [&](const Node& from, int cost, std::int32_t until) {
      for (std::int32_t j = std::max(from.pair.receive + 1, begin_); j < until; ++j) {
        int& least = without[static_cast<std::size_t>(j - begin_)];
        least = std::min(least, cost);
      }
    };
    for (std::size_t n = 1; n < nodes_.size(); ++n) {
      const Node& to = nodes_[n];
      const std::size_t steps_end =
          n + 1 < nodes_.size() ? nodes_[n + 1].first_step : steps_.size();
      for (std::size_t k = to.first_step; k < steps_end && to.rest < k_never; ++k) {
        const Node& from = nodes_[steps_[k].from];
        if (to.pair.receive <= from.pair.receive + 1) continue;
        const int cost = from.cost + steps_[k].cost + to.rest;
        if (is_best[n] && is_best[steps_[k].from]) {
          leave_out(from, cost, to.pair.receive);
        } else {
          add(from, cost, to.pair.receive);
        }
      }
    }
    for (const std::uint32_t n : alive_) {
      const Node& node = nodes_[n];
      const int cost = node.cost + (last ? ends_.end_cost(node.pair) : 0);
      if (is_best[n]) {
        leave_out(node, cost, end_);
      } else {
        add(node, cost, end_);
      }
    }
    std::priority_queue<Over> over;
    for (std::int32_t j = begin_; j < decided_; ++j) {
      const auto layer = static_cast<std::size_t>(j - begin_);
      for (const Over& one : begins[layer]) over.push(one);
      while (!over.empty() && over.top().until <= j) over.pop();
      const Node* best = nullptr;
      int second = over.empty() ? k_never : over.top().cost;
      for (std::size_t n = layers_[layer]; n < layers_[layer + 1]; ++n) {
        const Node& node = nodes_[n];
        if (is_best[n]) {
          best = &node;
        } else if (node.rest < k_never) {
          second = std::min(second, node.cost + node.rest);
        }
      }
      if (best == nullptr) continue;
      candidates.push_back({best->pair.send, j, second - total, without[layer] - total});
    }
  }

  /// Returns the first index in [from, records.size()) for which `is_before(record)` is false
  /// (exponential search).
  template <class IsBefore>
  static std::int32_t first_not(std::span<const EndRecord> records, std::int32_t from,
                                IsBefore is_before) {
    const auto count = static_cast<std::int32_t>(records.size());
    std::int32_t step = 1, end = from;
    while (end < count && is_before(records[end])) {
      from = end + 1;
      end += step;
      step *= 2;
    }
    const auto found = std::partition_point(records.begin() + from,
                                            records.begin() + std::min(end, count), is_before);
    return static_cast<std::int32_t>(found - records.begin());
  }

  const Ends& ends_;
  std::int32_t begin_ = 0, end_ = 0, decided_ = 0;
  bool converged_ = false;
  int beam_cost_ = 0;                ///< W: most cost above the cheapest, bits
  std::size_t beam_size_ = 0;        ///< N: most partial alignments
  std::vector<Node> nodes_;          ///< start node, then sorted by receive
  std::vector<Delays> delays_;       ///< one per node
  std::vector<Step> steps_;          ///< sorted by target node
  std::vector<std::size_t> layers_;  ///< first node per receive of the block
  std::vector<std::uint32_t> alive_;
  std::uint32_t best_end_ = 0;  ///< last pair of the cheapest alignment
  std::vector<Found> found_;
  std::uint64_t examined_pairs_ = 0;
};

}  // namespace entrain::match
