// SPDX-License-Identifier: BSD-3-Clause
#include "match/align.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <queue>

#include "base/ids.hpp"

namespace entrain::match {

namespace {

// Costs, in bits.
constexpr int k_loss = 16;   ///< a stretch of lost records
constexpr int k_both = 6;    ///< more for every two ends, one of each side, lost at one place
constexpr int k_reward = 4;  ///< of every pair
constexpr int k_far = 12;    ///< most for a delay above the usual one; twice that for one below
/// How certain a pair must be: between the explanation that counts and others, and between it and
/// the same without this pair.
struct Certainty {
  int margin, alone;
};
constexpr Certainty k_nothing_lost = {24, 2}, k_little_lost = {24, 6}, k_much_lost = {36, 24};
/// More than one end in so many lost is much.
constexpr std::size_t k_many = 200;
constexpr int k_beam = 90;  ///< explanations that cost so much more than the best are given up
constexpr std::array k_shift_cost = {0, 6, 14, 18, 20, 22};  ///< by the change of positions

constexpr std::size_t k_most_alive = 96;  ///< partial explanations kept
constexpr int k_history = 16;             ///< delays that the usual one is the middle of
constexpr int k_young = 6;                ///< with fewer, delays count less
/// Receives that are decided at once, and those looked at beyond them.
constexpr std::uint32_t k_block = 1024, k_lookahead = 160;

constexpr int k_never = std::numeric_limits<int>::max() / 4;

/// a - b, also for stamps so far apart that the difference wraps.
std::int64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::uint64_t magnitude(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? 0 - bits : bits;
}

int shift_cost(std::int64_t change) {
  return k_shift_cost[std::min<std::uint64_t>(magnitude(change), k_shift_cost.size() - 1)];
}

int both_cost(std::int32_t sends, std::int32_t receives) {
  return k_both * std::min({sends, receives, k_never / (8 * k_both)});
}

/// The last pair of a partial explanation.
struct Node {
  std::int32_t send = -1, receive = -1;
  int cost = 0;        ///< of the cheapest partial explanation that ends here
  int rest = k_never;  ///< of the cheapest way from here to the end
  std::uint32_t parent = k_none;
  std::int64_t shift = 0;  ///< position of the receive - that of the send
  std::int64_t delay = 0;
  std::int64_t usual = 0;      ///< middle of the delays up to here
  int delays = 0;              ///< that `usual` is the middle of
  std::size_t first_step = 0;  ///< that lead here
};

/// From one pair to the next.
struct Step {
  std::uint32_t from = 0;
  int cost = 0;
};

class Aligner {
 public:
  Aligner(const Side& sends, const Side& receives) : sends_(sends), receives_(receives) {
    gaps_before(sends.traits, send_gaps_);
    gaps_before(receives.traits, receive_gaps_);
    find_scale();
  }

  Alignment run() {
    nodes_.push_back({});
    while (begin_ < receive_count()) block();
    choose();
    count_left_out();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::int32_t send_count() const {
    return static_cast<std::int32_t>(sends_.traits.size());
  }
  [[nodiscard]] std::int32_t receive_count() const {
    return static_cast<std::int32_t>(receives_.traits.size());
  }
  [[nodiscard]] std::int64_t delay(std::int32_t send, std::int32_t receive) const {
    return static_cast<std::int64_t>(receives_.traits[receive].time - sends_.traits[send].time);
  }
  [[nodiscard]] std::int64_t shift(std::int32_t send, std::int32_t receive) const {
    return std::int64_t{receives_.traits[receive].position} - sends_.traits[send].position;
  }

  /// Element k + 1: gaps before or at end k; so a difference counts gaps between two ends.
  static void gaps_before(std::span<const Trait> traits, std::vector<std::uint32_t>& gaps) {
    gaps.reserve(traits.size() + 1);
    gaps.push_back(0);
    for (const Trait& trait : traits) gaps.push_back(gaps.back() + (trait.after_gap ? 1 : 0));
  }

  /// By how much delays usually change from one pair to the next: 97 in 100 change less. That is
  /// measured with sends and receives paired in order, with none and with some left out at the
  /// begin: of these wrong ways, the one that is right for the longest stretch changes least.
  void find_scale() {
    const std::int32_t surplus = send_count() - receive_count();
    scale_ = ~std::uint64_t{0};
    for (const std::int32_t ahead : {0, 1, 2, -1, -2, surplus}) {
      scale_ = std::min(scale_, usual_change(std::max(ahead, 0), std::max(-ahead, 0)));
    }
    scale_ = std::max<std::uint64_t>(scale_, 1);
  }
  /// The k-th pairs are send + k and receive + k.
  [[nodiscard]] std::uint64_t usual_change(std::int32_t send, std::int32_t receive) const {
    const std::int32_t count = std::min(send_count() - send, receive_count() - receive);
    std::vector<std::uint64_t> changes;
    for (std::int32_t k = 1; k < count; ++k) {
      changes.push_back(magnitude(
          difference(delay(send + k, receive + k), delay(send + k - 1, receive + k - 1))));
    }
    if (changes.empty()) return ~std::uint64_t{0};
    const auto place =
        changes.begin() + static_cast<std::ptrdiff_t>((changes.size() - 1) * 97 / 100);
    std::nth_element(changes.begin(), place, changes.end());
    return *place;
  }

  [[nodiscard]] int delay_cost(const Node& from, std::int64_t delay) const {
    if (from.delays == 0) return 0;
    const int most = from.delays >= k_young ? k_far : 2 * from.delays;
    const std::int64_t late = difference(delay, from.usual);
    const auto bits = static_cast<int>(std::bit_width(magnitude(late) / scale_));
    return late < 0 ? std::min(2 * most, 3 * bits) : std::min(most, 2 * bits);
  }

  /// True if a gap lies between two ends of a side; `after` may be the number of ends, for the end
  /// of the trace.
  [[nodiscard]] static bool gap_between(const Side& side, const std::vector<std::uint32_t>& gaps,
                                        std::int32_t before, std::int32_t after) {
    const auto count = static_cast<std::int32_t>(side.traits.size());
    return (after == count && side.ends_in_gap) ||
           gaps[std::min(after + 1, count)] != gaps[before + 1];
  }
  [[nodiscard]] bool send_gap(std::int32_t before, std::int32_t after) const {
    return gap_between(sends_, send_gaps_, before, after);
  }
  [[nodiscard]] bool receive_gap(std::int32_t before, std::int32_t after) const {
    return gap_between(receives_, receive_gaps_, before, after);
  }

  /// Of the ends that are left out between two pairs, and of a changed shift. `send` and `receive`
  /// may be the numbers of ends: the end of the trace.
  [[nodiscard]] int gap_cost(const Node& from, std::int32_t send, std::int32_t receive,
                             std::int64_t shift) const {
    const bool of_sends = send_gap(from.send, send);
    const bool of_receives = receive_gap(from.receive, receive);
    int cost = 0;
    if (send > from.send + 1 && !of_receives) cost += k_loss;
    if (receive > from.receive + 1 && !of_sends) cost += k_loss;
    if (of_sends || of_receives) return cost;
    return cost + shift_cost(shift - from.shift) +
           both_cost(send - from.send - 1, receive - from.receive - 1);
  }
  [[nodiscard]] int end_cost(const Node& from) const {
    return gap_cost(from, send_count(), receive_count(),
                    std::int64_t{receives_.position} - sends_.position);
  }

  /// Decides over the next receives, from the last pair of the block before.
  void block() {
    const std::int32_t block_end =
        std::min<std::int32_t>(receive_count(), begin_ + static_cast<std::int32_t>(k_block));
    const std::int32_t end =
        std::min<std::int32_t>(receive_count(), block_end + static_cast<std::int32_t>(k_lookahead));
    const bool last = end == receive_count();
    const std::int32_t decided = last ? end : block_end;
    layers_.assign(1, nodes_.size());
    alive_.assign(1, static_cast<std::uint32_t>(nodes_.size() - 1));
    for (std::int32_t j = begin_; j < end; ++j) extend(j);
    const int total = look_back(last);
    accept(decided, end, total, last);
    begin_again(decided);
  }

  void extend(std::int32_t j) {
    found_.clear();
    int best = k_never;
    for (const std::uint32_t node : alive_) best = std::min(best, nodes_[node].cost);
    for (const std::uint32_t node : alive_) extend(node, j, best);
    std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
      return a.send != b.send ? a.send < b.send : a.from < b.from;
    });
    for (std::size_t k = 0; k < found_.size();) {
      Node node{.send = found_[k].send, .receive = j, .cost = k_never, .first_step = steps_.size()};
      for (; k < found_.size() && found_[k].send == node.send; ++k) {
        steps_.push_back({found_[k].from, found_[k].cost});
        const int cost = nodes_[found_[k].from].cost + found_[k].cost;
        if (cost < node.cost) {
          node.cost = cost;
          node.parent = found_[k].from;
        }
      }
      best = std::min(best, node.cost);
      node.shift = shift(node.send, j);
      node.delay = delay(node.send, j);
      alive_.push_back(static_cast<std::uint32_t>(nodes_.size()));
      nodes_.push_back(node);
      find_usual(nodes_.back());
    }
    layers_.push_back(nodes_.size());
    std::erase_if(alive_, [&](std::uint32_t n) { return nodes_[n].cost > best + k_beam; });
    if (alive_.size() <= k_most_alive) return;
    std::sort(alive_.begin(), alive_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return nodes_[a].cost != nodes_[b].cost ? nodes_[a].cost < nodes_[b].cost : a > b;
    });
    alive_.resize(k_most_alive);
  }

  void extend(std::uint32_t from, std::int32_t j, int best) {
    const Node node = nodes_[from];
    const Trait& receive = receives_.traits[j];
    std::array<std::int32_t, 16> candidates{};
    std::size_t count = 0;
    const auto consider = [&](std::int32_t send) {
      if (send > node.send && send < send_count()) candidates[count++] = send;
    };
    for (const std::int32_t k : {1, 2, 3}) consider(node.send + k);
    consider(node.send + (j - node.receive));
    const auto traits = sends_.traits;
    const auto by_position = std::lower_bound(
        traits.begin() + node.send + 1, traits.end(), std::int64_t{receive.position} - node.shift,
        [](const Trait& trait, std::int64_t position) { return trait.position < position; });
    const auto near = static_cast<std::int32_t>(by_position - traits.begin());
    for (const std::int32_t k : {-1, 0, 1}) consider(near + k);
    if (node.delays > 0) {
      const std::int64_t wanted = difference(static_cast<std::int64_t>(receive.time), node.usual);
      const auto by_time = std::lower_bound(traits.begin() + node.send + 1, traits.end(), wanted,
                                            [](const Trait& trait, std::int64_t time) {
                                              return static_cast<std::int64_t>(trait.time) < time;
                                            });
      const auto then = static_cast<std::int32_t>(by_time - traits.begin());
      for (const std::int32_t k : {-2, -1, 0, 1}) consider(then + k);
    }
    std::sort(candidates.begin(), candidates.begin() + count);
    const auto end = std::unique(candidates.begin(), candidates.begin() + count);
    for (auto send = candidates.begin(); send != end; ++send) {
      if (traits[*send].symbol != receive.symbol) continue;
      const int cost =
          gap_cost(node, *send, j, shift(*send, j)) + delay_cost(node, delay(*send, j)) - k_reward;
      if (node.cost + cost <= best + k_beam) found_.push_back({*send, from, cost});
    }
  }

  void find_usual(Node& node) {
    std::array<std::int64_t, k_history> delays{};
    int count = 0;
    for (const Node* at = &node; count < k_history && at->receive >= 0;) {
      delays[count++] = at->delay;
      if (at->parent == k_none) break;
      at = &nodes_[at->parent];
    }
    const auto middle = delays.begin() + (count - 1) / 2;
    std::nth_element(delays.begin(), middle, delays.begin() + count);
    node.usual = *middle;
    node.delays = count;
  }

  /// Computes `rest` of all nodes of the block. Returns the cost of the cheapest explanation.
  int look_back(bool last) {
    int total = k_never;
    for (const std::uint32_t n : alive_) {
      Node& node = nodes_[n];
      node.rest = last ? end_cost(node) : 0;
      if (node.cost + node.rest >= total) continue;
      total = node.cost + node.rest;
      best_end_ = n;
    }
    for (std::size_t n = nodes_.size(); n-- > layers_[0];) {
      if (nodes_[n].rest >= k_never) continue;  // given up
      const std::size_t end = n + 1 < nodes_.size() ? nodes_[n + 1].first_step : steps_.size();
      for (std::size_t k = nodes_[n].first_step; k < end; ++k) {
        Node& from = nodes_[steps_[k].from];
        from.rest = std::min(from.rest, nodes_[n].rest + steps_[k].cost);
      }
    }
    return total;
  }

  /// Takes the pairs whose receive every cheap explanation pairs in the same way.
  void accept(std::int32_t decided, std::int32_t end, int total, bool last) {
    // Explanations that leave receive j out are steps over it.
    struct Over {
      int cost;
      std::int32_t until;
      bool operator<(const Over& other) const { return cost > other.cost; }
    };
    std::vector<std::vector<Over>> begins(static_cast<std::size_t>(end - begin_));
    const auto add = [&](const Node& from, int cost, std::int32_t until) {
      const std::int32_t first = std::max(from.receive + 1, begin_);
      if (first < until) begins[static_cast<std::size_t>(first - begin_)].push_back({cost, until});
    };
    std::vector<bool> is_best(nodes_.size(), false);
    for (std::uint32_t n = best_end_; n != k_none; n = nodes_[n].parent) is_best[n] = true;
    std::vector<int> without(static_cast<std::size_t>(end - begin_), k_never);
    const auto leave_out = [&](const Node& from, int cost, std::int32_t until) {
      for (std::int32_t j = std::max(from.receive + 1, begin_); j < until; ++j) {
        int& least = without[static_cast<std::size_t>(j - begin_)];
        least = std::min(least, cost);
      }
    };
    for (std::size_t n = layers_[0]; n < nodes_.size(); ++n) {
      const Node& to = nodes_[n];
      const std::size_t steps_end =
          n + 1 < nodes_.size() ? nodes_[n + 1].first_step : steps_.size();
      for (std::size_t k = to.first_step; k < steps_end && to.rest < k_never; ++k) {
        const Node& from = nodes_[steps_[k].from];
        if (to.receive <= from.receive + 1) continue;
        const int cost = from.cost + steps_[k].cost + to.rest;
        if (is_best[n] && is_best[steps_[k].from]) {
          leave_out(from, cost, to.receive);
        } else {
          add(from, cost, to.receive);
        }
      }
    }
    for (const std::uint32_t n : alive_) {
      const Node& node = nodes_[n];
      const int cost = node.cost + (last ? end_cost(node) : 0);
      if (is_best[n]) {
        leave_out(node, cost, end);
      } else {
        add(node, cost, end);
      }
    }
    std::priority_queue<Over> over;
    for (std::int32_t j = begin_; j < decided; ++j) {
      for (const Over& one : begins[static_cast<std::size_t>(j - begin_)]) over.push(one);
      while (!over.empty() && over.top().until <= j) over.pop();
      const Node* best = nullptr;
      int second = over.empty() ? k_never : over.top().cost;
      for (std::size_t n = layers_[static_cast<std::size_t>(j - begin_)];
           n < layers_[static_cast<std::size_t>(j - begin_) + 1]; ++n) {
        const Node& node = nodes_[n];
        if (is_best[n]) {
          best = &node;
        } else if (node.rest < k_never) {
          second = std::min(second, node.cost + node.rest);
        }
      }
      if (best == nullptr) continue;
      const int alone = without[static_cast<std::size_t>(j - begin_)];
      likely_.push_back({best->send, best->receive, second - total, alone - total});
    }
  }

  /// Keeps the last pair of the cheapest explanation that is decided, with its history.
  void begin_again(std::int32_t decided) {
    std::uint32_t at = best_end_;
    while (nodes_[at].receive >= decided) at = nodes_[at].parent;
    std::vector<Node> chain;
    for (; chain.size() < k_history; at = nodes_[at].parent) {
      chain.push_back(nodes_[at]);
      if (nodes_[at].parent == k_none) break;
    }
    std::reverse(chain.begin(), chain.end());
    nodes_.clear();
    steps_.clear();
    for (std::size_t k = 0; k < chain.size(); ++k) {
      Node node = chain[k];
      node.parent = k == 0 ? k_none : static_cast<std::uint32_t>(k - 1);
      node.cost = 0;
      node.rest = k_never;
      node.first_step = 0;
      nodes_.push_back(node);
    }
    begin_ = decided;
  }

  /// Keeps the likely pairs that are certain.
  void choose() {
    const std::size_t ends = sends_.traits.size() + receives_.traits.size();
    const std::size_t lost = ends - 2 * likely_.size();
    const bool much = lost * k_many >= ends;
    const Certainty wanted = lost == 0 ? k_nothing_lost : much ? k_much_lost : k_little_lost;
    // Where much was lost, delays alone say too little.
    const bool positions = sends_.position > 0 && receives_.position > 0;
    const int margin = much && !positions ? 2 * wanted.margin : wanted.margin;
    for (const Likely& pair : likely_) {
      if (pair.margin >= margin && pair.alone >= wanted.alone) {
        result_.pairs.emplace_back(pair.send, pair.receive);
      }
    }
    result_.ambiguous = likely_.size() - result_.pairs.size();
  }
  void count_left_out();

  /// A pair of the cheapest explanation.
  struct Likely {
    std::int32_t send = 0, receive = 0;
    int margin = 0;  ///< to explanations that pair the receive otherwise, or others otherwise
    int alone = 0;   ///< to the same explanation without this pair
  };

  const Side& sends_;
  const Side& receives_;
  std::vector<std::uint32_t> send_gaps_, receive_gaps_;
  std::uint64_t scale_ = 1;

  struct Found {
    std::int32_t send;
    std::uint32_t from;
    int cost;
  };
  std::int32_t begin_ = 0;           ///< first receive of the block
  std::vector<Node> nodes_;          ///< the history of the block's first one, then by receive
  std::vector<Step> steps_;          ///< by the node that they lead to
  std::vector<std::size_t> layers_;  ///< per receive of the block: its first node
  std::vector<std::uint32_t> alive_;
  std::uint32_t best_end_ = 0;  ///< last pair of the cheapest explanation of the block
  std::vector<Found> found_;
  std::vector<Likely> likely_;
  Alignment result_;
};

/// Every end that is in no pair is ambiguous, lost, or in a gap of the other side.
void Aligner::count_left_out() {
  // Between two likely pairs lie the ends without a partner.
  std::vector<std::pair<std::int32_t, std::int32_t>> likely;
  for (const Likely& pair : likely_) likely.emplace_back(pair.send, pair.receive);
  likely.emplace_back(send_count(), receive_count());
  std::int32_t send = -1, receive = -1;
  for (const auto& [next_send, next_receive] : likely) {
    const auto sends_without = static_cast<std::uint64_t>(next_send - send - 1);
    const auto receives_without = static_cast<std::uint64_t>(next_receive - receive - 1);
    (receive_gap(receive, next_receive) ? result_.in_gaps : result_.lost) += sends_without;
    (send_gap(send, next_send) ? result_.in_gaps : result_.lost) += receives_without;
    send = next_send;
    receive = next_receive;
  }
}

}  // namespace

Alignment align(const Side& sends, const Side& receives) {
  if (sends.traits.empty() || receives.traits.empty()) {
    Alignment none;
    (receives.ends_in_gap ? none.in_gaps : none.lost) += sends.traits.size();
    (sends.ends_in_gap ? none.in_gaps : none.lost) += receives.traits.size();
    return none;
  }
  return Aligner(sends, receives).run();
}

Alignment align_after(std::uint32_t certain, const Side& sends, const Side& receives) {
  const auto rest = [&](Side side) {
    side.traits = side.traits.subspan(certain);
    return side;
  };
  Alignment result = align(rest(sends), rest(receives));
  if (certain == 0) return result;
  for (auto& [send, receive] : result.pairs) {
    send += certain;
    receive += certain;
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs(certain);
  for (std::uint32_t k = 0; k < certain; ++k) pairs[k] = {k, k};
  result.pairs.insert(result.pairs.begin(), pairs.begin(), pairs.end());
  return result;
}

std::uint32_t equal_symbols(const Side& sends, const Side& receives, std::uint32_t count) {
  std::uint32_t k = 0;
  while (k < count && sends.traits[k].symbol == receives.traits[k].symbol) ++k;
  return k;
}

}  // namespace entrain::match
