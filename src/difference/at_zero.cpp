// SPDX-License-Identifier: BSD-3-Clause
#include "difference/at_zero.hpp"

#include <algorithm>
#include <queue>
#include <set>
#include <utility>

namespace entrain::difference {

namespace {

/// Number of clocks up to which all sets are tried.
constexpr std::size_t k_most_exhaustive = 16;

class AtZeroSearch {
 public:
  AtZeroSearch(const System& system, Values potential, std::span<const std::uint32_t> order,
               Effort& effort, std::span<const std::uint32_t> weights)
      : system_(system),
        potential_(std::move(potential)),
        order_(order),
        effort_(effort),
        weights_(weights),
        upper_(system.nodes(), k_unbounded),
        origin_(system.nodes(), system.clock(0)),
        at_zero_(system.nodes(), 0),
        stays_(system.clocks(), 0) {}

  AtZero run() {
    at_zero_[0] = 1;
    set(0, 0, system_.clock(0));
    spread();
    if (order_.size() <= k_most_exhaustive) {
      try_from(0);
    } else {
      add_block(order_);
      best_ = stays_;
    }
    return {
        .stays = std::move(best_), .complete = effort_.spent <= effort_.most, .is_only = is_only_};
  }

 private:
  using Block = std::span<const std::uint32_t>;
  /// The value of a node before it changed.
  struct Change {
    Node node = 0;
    Exact upper = 0;
    std::uint32_t origin = 0;
    char at_zero = 0;
  };

  /// Adds each clock of a block that can stay beside those that were added before.
  void add_block(Block block) {
    if (block.empty() || effort_.spent > effort_.most || add(block) || block.size() == 1) return;
    add_block(block.first(block.size() / 2));
    add_block(block.subspan(block.size() / 2));
  }

  /// Tries all sets of the clocks from a place of the order on, beside those that stay.
  void try_from(std::size_t place) {
    std::size_t possible = weight_;  // as far as conflicts are known
    for (const std::uint32_t clock : order_.subspan(place)) {
      possible += is_excluded(clock) ? 0 : weight_of(clock);
    }
    if (!best_.empty() && possible < most_ + (is_only_ ? 0 : 1)) return;
    if (place == order_.size()) {
      is_only_ = best_.empty() || weight_ > most_;
      if (is_only_) best_ = stays_;
      most_ = weight_;
      return;
    }
    const std::size_t before = changes_.size();
    if (effort_.spent <= effort_.most && !is_excluded(order_[place]) &&
        add(order_.subspan(place, 1))) {
      try_from(place + 1);
      stays_[order_[place]] = 0;
      weight_ -= weight_of(order_[place]);
      undo(before);
    }
    try_from(place + 1);
  }

  /// True if a clock is known to be in conflict with one that stays, or with the reference.
  [[nodiscard]] bool is_excluded(std::uint32_t clock) const {
    return std::ranges::any_of(conflicts_, [&](const auto& pair) {
      if (pair.first != clock && pair.second != clock) return false;
      const std::uint32_t other = pair.first == clock ? pair.second : pair.first;
      return other == clock || other == system_.clock(0) || stays_[other] != 0;
    });
  }
  [[nodiscard]] std::size_t weight_of(std::uint32_t clock) const {
    return weights_.empty() ? 1 : weights_[clock];
  }

  /// Lets clocks stay. False, with all as before, if they cannot.
  bool add(Block block) {
    const std::size_t before = changes_.size();
    if (!hold(block) || !spread()) {
      queue_ = {};
      undo(before);
      return false;
    }
    for (const std::uint32_t clock : block) {
      stays_[clock] = 1;
      weight_ += weight_of(clock);
    }
    return true;
  }

  /// Ties all nodes of clocks to 0. False if a path from the reference is below it already.
  bool hold(Block block) {
    for (const std::uint32_t clock : block) {
      effort_.spent += system_.end(clock) - system_.begin(clock);
      for (Node node = system_.begin(clock); node < system_.end(clock); ++node) {
        if (upper_[node] < 0) return note_conflict(origin_[node], clock);
        changes_.push_back({node, upper_[node], origin_[node], at_zero_[node]});
        at_zero_[node] = 1;
        if (upper_[node] > 0) set(node, 0, clock);
        if (!agrees(node)) return false;
      }
    }
    return true;
  }

  /// True if no arc alone contradicts that a node is 0: the most frequent conflict, found before
  /// any path is followed.
  bool agrees(Node node) {
    const auto is_against = [&](const System::Arc& arc) {
      return arc.length < 0 && at_zero_[arc.other] != 0;
    };
    for (const auto arcs : {system_.arcs_from(node), system_.arcs_to(node)}) {
      effort_.spent += arcs.size();
      const auto against = std::ranges::find_if(arcs, is_against);
      if (against == arcs.end()) continue;
      return note_conflict(system_.clock(node), system_.clock(against->other));
    }
    return true;
  }

  /// Dijkstra's algorithm on the lengths that the potential makes positive. False if a path gets
  /// below 0 at a node that is tied to 0: a negative cycle.
  bool spread() {
    while (!queue_.empty()) {
      const auto [distance, node] = queue_.top();
      queue_.pop();
      if (distance != upper_[node] - potential_[node]) continue;
      bool good = true;
      const auto follow = [&, from = node](Node to, Exact length, bool) {
        ++effort_.spent;
        const Exact upper = upper_[from] + length;
        if (upper >= upper_[to]) return;
        if (at_zero_[to] != 0) good = note_conflict(origin_[from], system_.clock(to));
        changes_.push_back({to, upper_[to], origin_[to], at_zero_[to]});
        set(to, upper, origin_[from]);
      };
      for (const System::Arc& arc : system_.arcs_from(node)) {
        follow(arc.other, Exact{arc.length} * k_tick, false);
      }
      system_.for_each_limit(node, true, follow);
      if (!good) return false;
    }
    return true;
  }

  /// Two clocks cannot both stay: a path from 0 at one is below 0 at the other. False.
  bool note_conflict(std::uint32_t a, std::uint32_t b) {
    if (order_.size() <= k_most_exhaustive) conflicts_.insert(std::minmax(a, b));
    return false;
  }

  void set(Node node, Exact upper, std::uint32_t origin) {
    upper_[node] = upper;
    origin_[node] = origin;
    queue_.emplace(upper - potential_[node], node);
  }

  void undo(std::size_t size) {
    for (; changes_.size() > size; changes_.pop_back()) {
      const Change& change = changes_.back();
      upper_[change.node] = change.upper;
      origin_[change.node] = change.origin;
      at_zero_[change.node] = change.at_zero;
    }
  }

  using Entry = std::pair<Exact, Node>;
  const System& system_;
  const Values potential_;  ///< a solution
  Block order_;
  Effort& effort_;
  std::span<const std::uint32_t> weights_;
  Values upper_;                     ///< length of the shortest path from the reference
  BigVector<std::uint32_t> origin_;  ///< clock, or the reference, at which that path begins
  BigVector<char> at_zero_;          ///< tied to 0; one per node
  std::vector<char> stays_, best_;
  std::size_t weight_ = 0, most_ = 0;  ///< weights of clocks that stay now, and in `best_`
  bool is_only_ = true;                ///< no other set has so much
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  std::vector<Change> changes_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> conflicts_;  ///< the smaller number first
};

}  // namespace

Solved<AtZero> find_most_at_zero(const System& system, std::span<const std::uint32_t> order,
                                 Effort& effort, std::span<const std::uint32_t> weights) {
  auto potential = greatest_below(system, Values(system.nodes(), 0), effort);
  if (!potential) return tl::unexpected(std::move(potential.error()));
  return AtZeroSearch(system, std::move(*potential), order, effort, weights).run();
}

}  // namespace entrain::difference
