// SPDX-License-Identifier: BSD-3-Clause
#include "verify/alignment.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "base/ids.hpp"

namespace entrain::verify {

namespace {

/// Costs are in bits; section 2.1 explains the constants.
using Cost = std::int64_t;
constexpr Cost k_infinite = std::numeric_limits<Cost>::max() / 4;
constexpr Cost k_stretch = 16, k_opposite = 6, k_couple = -4;
constexpr std::array<Cost, 6> k_moved = {0, 6, 14, 18, 20, 22};
constexpr Cost k_odd_delay = 12;
constexpr Cost k_width = 90;
constexpr std::size_t k_open = 96;
constexpr std::int32_t k_decide = 1024, k_ahead = 160;
constexpr std::int32_t k_remember = 16, k_enough = 6;

/// How much dearer other explanations must be for a couple to be certain.
struct Demand {
  Cost others;   ///< those that leave the cheapest one
  Cost omitted;  ///< those that only omit the couple
};

/// Of `ends`, `left` have no partner. `ordered`: there are positions to tell them apart by.
Demand demand(std::int64_t ends, std::int64_t left, bool ordered) {
  if (left == 0) return {24, 2};
  const bool many = left < 0 || 200 * left >= ends;
  if (!many) return {24, 6};
  return ordered ? Demand{36, 24} : Demand{72, 24};
}

/// a - b modulo 2^64.
std::int64_t minus(std::uint64_t a, std::uint64_t b) { return static_cast<std::int64_t>(a - b); }
std::int64_t minus(std::int64_t a, std::int64_t b) {
  return minus(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b));
}
std::uint64_t size_of(std::int64_t value) {
  return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

/// A row, and the number of gaps up to each of its ends. Index -1 stands for the begin of the
/// trace.
class Line {
 public:
  explicit Line(const Row& row) : row_(row), gaps_(row.traits.size() + 1, 0) {
    std::transform_inclusive_scan(row.traits.begin(), row.traits.end(), gaps_.begin() + 1,
                                  std::plus<>(),
                                  [](const Trait& trait) { return trait.after_gap ? 1U : 0U; });
  }

  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(row_.traits.size()); }
  [[nodiscard]] const Trait& operator[](std::int32_t i) const { return row_.traits[i]; }
  [[nodiscard]] std::int64_t position(std::int32_t i) const {
    return i < size() ? row_.traits[i].position : row_.position;
  }
  /// Whether a gap lies between two ends; `to` may be size(), the end of the trace.
  [[nodiscard]] bool gap(std::int32_t from, std::int32_t to) const {
    return (to == size() && row_.ends_in_gap) || gaps_[from + 1] != gaps_[std::min(to + 1, size())];
  }
  /// The first end in [from, size()) for which `is_before(trait)` is false; size() if there is
  /// none.
  template <class IsBefore>
  [[nodiscard]] std::int32_t first_not(std::int32_t from, IsBefore is_before) const {
    const auto found =
        std::partition_point(row_.traits.begin() + from, row_.traits.end(), is_before);
    return static_cast<std::int32_t>(found - row_.traits.begin());
  }

 private:
  const Row& row_;
  std::vector<std::uint32_t> gaps_;
};

/// The smallest of a number of costs per receive, each given for a stretch of receives.
class CheapestOver {
 public:
  CheapestOver(std::int32_t first, std::int32_t end) : first_(first), end_(end) {}

  void add(std::int32_t from, std::int32_t until, Cost cost) {
    from = std::max(from, first_);
    until = std::min(until, end_);
    if (from < until) stretches_.push_back({cost, from, until});
  }
  /// One cost per receive. From the cheapest stretch on, each takes what is still free.
  std::vector<Cost> take() {
    std::sort(stretches_.begin(), stretches_.end(),
              [](const Stretch& a, const Stretch& b) { return a.cost < b.cost; });
    const auto width = static_cast<std::size_t>(end_ - first_);
    std::vector<Cost> cheapest(width, k_infinite);
    std::vector<std::uint32_t> free(width + 1);  // leads to the next free one
    std::iota(free.begin(), free.end(), 0);
    const auto next_free = [&](std::uint32_t at) {
      while (free[at] != at) at = free[at] = free[free[at]];
      return at;
    };
    for (const Stretch& stretch : stretches_) {
      const auto until = static_cast<std::uint32_t>(stretch.until - first_);
      for (auto at = next_free(static_cast<std::uint32_t>(stretch.from - first_)); at < until;
           at = next_free(at)) {
        cheapest[at] = stretch.cost;
        free[at] = at + 1;
      }
    }
    return cheapest;
  }

 private:
  struct Stretch {
    Cost cost;
    std::int32_t from, until;
  };
  std::int32_t first_, end_;
  std::vector<Stretch> stretches_;
};

/// A couple that explanations may contain, with the cheapest ones that do.
struct Cell {
  std::int32_t send = -1, receive = -1;
  std::uint32_t back = k_none;  ///< the couple before it in the cheapest one
  Cost to = k_infinite;         ///< from the first cell to this one
  Cost on = k_infinite;         ///< from this one to the end
  std::int64_t shift = 0;       ///< how far the positions are apart
  std::int64_t delay = 0;
  std::int64_t usual = 0;  ///< the middle of the last delays up to here
  std::int32_t delays = 0;

  [[nodiscard]] Cost through() const { return to + on; }
};

/// The next couple of an explanation.
struct Link {
  std::uint32_t from = k_none, to = k_none;
  Cost cost = 0;
};

/// The two rows span a grid: receives are its layers, and a layer has a cell for each send that is
/// worth a thought. Blocks of layers are explained one after the other.
class Grid {
 public:
  Grid(const Row& sends, const Row& receives)
      : sends_(sends), receives_(receives), scale_(usual_change()) {}

  Alignment solve() {
    cells_.emplace_back();
    cells_[0].to = 0;
    while (begin_ < receives_.size()) explain_block();
    Alignment result;
    const std::int64_t ends = std::int64_t{sends_.size()} + receives_.size();
    const bool ordered =
        sends_.position(sends_.size()) > 0 && receives_.position(receives_.size()) > 0;
    const Demand least = demand(ends, ends - 2 * std::ssize(likely_), ordered);
    for (const Likely& one : likely_) {
      if (one.others < least.others || one.omitted < least.omitted) continue;
      result.couples.push_back(
          {static_cast<std::uint32_t>(one.send), static_cast<std::uint32_t>(one.receive)});
    }
    result.ambiguous = std::ssize(likely_) - std::ssize(result.couples);
    likely_.push_back({.send = sends_.size(), .receive = receives_.size()});
    std::int32_t send = -1, receive = -1;
    for (const Likely& next : likely_) {
      if (receives_.gap(receive, next.receive)) result.sends_in_gaps += next.send - send - 1;
      if (sends_.gap(send, next.send)) result.receives_in_gaps += next.receive - receive - 1;
      send = next.send;
      receive = next.receive;
    }
    return result;
  }

 private:
  /// A couple of a cheapest explanation; by how much others cost more.
  struct Likely {
    std::int32_t send = 0, receive = 0;
    Cost others = 0, omitted = 0;
  };
  /// A link whose cell is not there yet.
  struct Arrival {
    std::int32_t send;
    std::uint32_t from;
    Cost cost;
  };

  [[nodiscard]] std::int64_t delay(std::int32_t send, std::int32_t receive) const {
    return minus(receives_[receive].time, sends_[send].time);
  }

  [[nodiscard]] std::uint64_t usual_change() const {
    std::uint64_t least = ~std::uint64_t{0};
    std::vector<std::uint64_t> changes;
    for (const std::int32_t more_sends : {-2, -1, 0, 1, 2, sends_.size() - receives_.size()}) {
      changes.clear();
      std::int32_t send = std::max(more_sends, 0), receive = std::max(-more_sends, 0);
      for (; send + 1 < sends_.size() && receive + 1 < receives_.size(); ++send, ++receive) {
        changes.push_back(size_of(minus(delay(send + 1, receive + 1), delay(send, receive))));
      }
      if (changes.empty()) continue;
      const auto place = static_cast<std::ptrdiff_t>((changes.size() - 1) * 97 / 100);
      std::nth_element(changes.begin(), changes.begin() + place, changes.end());
      least = std::min(least, changes[place]);
    }
    return std::max<std::uint64_t>(least, 1);
  }

  /// Of what lies between a couple and the next one, or the end of the trace.
  [[nodiscard]] Cost between(const Cell& from, std::int32_t send, std::int32_t receive) const {
    const bool send_gap = sends_.gap(from.send, send);
    const bool receive_gap = receives_.gap(from.receive, receive);
    const Cost sends_left = send - from.send - 1, receives_left = receive - from.receive - 1;
    Cost cost = 0;
    if (sends_left > 0 && !receive_gap) cost += k_stretch;
    if (receives_left > 0 && !send_gap) cost += k_stretch;
    if (send_gap || receive_gap) return cost;
    const std::uint64_t moved =
        size_of(receives_.position(receive) - sends_.position(send) - from.shift);
    return cost + k_opposite * std::min(sends_left, receives_left) +
           k_moved[std::min<std::uint64_t>(moved, k_moved.size() - 1)];
  }
  [[nodiscard]] Cost to_end(const Cell& from) const {
    return between(from, sends_.size(), receives_.size());
  }

  /// Of a delay after the couple `from`.
  [[nodiscard]] Cost delay_cost(const Cell& from, std::int64_t delay) const {
    if (from.delays == 0) return 0;
    const Cost most = from.delays < k_enough ? 2 * from.delays : k_odd_delay;
    const std::int64_t late = minus(delay, from.usual);
    const Cost bits = std::bit_width(size_of(late) / scale_);
    return late < 0 ? std::min(2 * most, 3 * bits) : std::min(most, 2 * bits);
  }

  void explain_block() {
    const std::int32_t size = receives_.size();
    const std::int32_t end = std::min(size - begin_, k_decide + k_ahead) + begin_;
    const bool last = end == size;
    const std::int32_t decided = last ? end : begin_ + k_decide;
    open_ = {static_cast<std::uint32_t>(cells_.size() - 1)};
    first_cell_ = {static_cast<std::uint32_t>(cells_.size())};
    for (std::int32_t receive = begin_; receive < end; ++receive) add_layer(receive);
    const Cost total = finish(last);
    note_likely(decided, end, total, last);
    keep_tail(decided);
  }

  /// Adds the cells of a receive, and their links.
  void add_layer(std::int32_t receive) {
    arrivals_.clear();
    Cost best = k_infinite;
    for (const std::uint32_t cell : open_) best = std::min(best, cells_[cell].to);
    for (const std::uint32_t cell : open_) find_arrivals(cell, receive, best + k_width);
    layer_.clear();
    for (const Arrival& arrival : arrivals_) layer_.push_back(arrival.send);
    std::sort(layer_.begin(), layer_.end());
    layer_.erase(std::unique(layer_.begin(), layer_.end()), layer_.end());
    const auto first = static_cast<std::uint32_t>(cells_.size());
    cells_.resize(first + layer_.size());
    for (const Arrival& arrival : arrivals_) {
      const auto place = std::lower_bound(layer_.begin(), layer_.end(), arrival.send);
      const auto to = first + static_cast<std::uint32_t>(place - layer_.begin());
      links_.push_back({arrival.from, to, arrival.cost});
      Cell& cell = cells_[to];
      const Cost cost = cells_[arrival.from].to + arrival.cost;
      if (cost > cell.to || (cost == cell.to && arrival.from > cell.back)) continue;
      cell.to = cost;
      cell.back = arrival.from;
    }
    for (std::uint32_t c = first; c < cells_.size(); ++c) {
      complete(cells_[c], layer_[c - first], receive);
      best = std::min(best, cells_[c].to);
      open_.push_back(c);
    }
    first_cell_.push_back(static_cast<std::uint32_t>(cells_.size()));
    close(best + k_width);
  }

  /// The sends that may be next after a cell, if `receive` is: those that follow at once, those
  /// that leave out as many sends as receives, and those near where the positions and the delay
  /// stay as they were.
  void find_arrivals(std::uint32_t from, std::int32_t receive, Cost most) {
    const Cell& cell = cells_[from];
    std::array<std::int32_t, 16> tried{};
    std::size_t count = 0;
    const auto try_from = [&](std::int32_t first, std::int32_t number) {
      for (std::int32_t send = first; send < first + number; ++send) {
        if (send <= cell.send || send >= sends_.size()) continue;
        const auto end = tried.begin() + count;
        if (std::find(tried.begin(), end, send) != end) continue;
        tried[count++] = send;
        try_send(from, send, receive, most);
      }
    };
    try_from(cell.send + 1, 3);
    try_from(cell.send + receive - cell.receive, 1);
    const Trait& end = receives_[receive];
    const std::int64_t position = std::int64_t{end.position} - cell.shift;
    try_from(sends_.first_not(cell.send + 1,
                              [&](const Trait& send) { return send.position < position; }) -
                 1,
             3);
    if (cell.delays == 0) return;
    const std::int64_t time = minus(static_cast<std::int64_t>(end.time), cell.usual);
    try_from(sends_.first_not(
                 cell.send + 1,
                 [&](const Trait& send) { return static_cast<std::int64_t>(send.time) < time; }) -
                 2,
             4);
  }

  void try_send(std::uint32_t from, std::int32_t send, std::int32_t receive, Cost most) {
    if (sends_[send].symbol != receives_[receive].symbol) return;
    const Cell& cell = cells_[from];
    const Cost cost =
        between(cell, send, receive) + delay_cost(cell, delay(send, receive)) + k_couple;
    if (cell.to + cost <= most) arrivals_.push_back({send, from, cost});
  }

  void complete(Cell& cell, std::int32_t send, std::int32_t receive) {
    cell.send = send;
    cell.receive = receive;
    cell.shift = receives_.position(receive) - sends_.position(send);
    cell.delay = delay(send, receive);
    std::array<std::int64_t, k_remember> last{};
    const Cell* at = &cell;
    for (cell.delays = 0; cell.delays < k_remember && at->receive >= 0; at = &cells_[at->back]) {
      last[static_cast<std::size_t>(cell.delays++)] = at->delay;
      if (at->back == k_none) break;
    }
    const auto middle = last.begin() + (cell.delays - 1) / 2;
    std::nth_element(last.begin(), middle, last.begin() + cell.delays);
    cell.usual = *middle;
  }

  /// Gives up the explanations that cost more than `most`; of too many keeps the cheapest, of
  /// equally cheap ones the last.
  void close(Cost most) {
    std::erase_if(open_, [&](std::uint32_t cell) { return cells_[cell].to > most; });
    if (open_.size() <= k_open) return;
    std::sort(open_.begin(), open_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(cells_[a].to, b) < std::pair(cells_[b].to, a);
    });
    open_.resize(k_open);
  }

  /// Computes Cell::on. Returns the cost of the cheapest explanation.
  Cost finish(bool last) {
    Cost total = k_infinite;
    for (const std::uint32_t cell : open_) {
      cells_[cell].on = last ? to_end(cells_[cell]) : 0;
      if (cells_[cell].through() >= total) continue;
      total = cells_[cell].through();
      way_end_ = cell;
    }
    for (auto link = links_.rbegin(); link != links_.rend(); ++link) {
      const Cost on = cells_[link->to].on;
      if (on >= k_infinite) continue;  // given up
      Cost& before = cells_[link->from].on;
      before = std::min(before, on + link->cost);
    }
    return total;
  }

  /// Finds the receives below `decided` that have a partner in a cheapest explanation.
  void note_likely(std::int32_t decided, std::int32_t end, Cost total, bool last) {
    std::vector<bool> on_way(cells_.size(), false);
    for (std::uint32_t c = way_end_; c != k_none; c = cells_[c].back) on_way[c] = true;
    CheapestOver omitted(begin_, decided), others(begin_, decided);
    for (const Link& link : links_) {
      const Cell &from = cells_[link.from], &to = cells_[link.to];
      if (to.on >= k_infinite) continue;
      (on_way[link.from] && on_way[link.to] ? omitted : others)
          .add(from.receive + 1, to.receive, from.to + link.cost + to.on);
    }
    for (const std::uint32_t cell : open_) {
      (on_way[cell] ? omitted : others)
          .add(cells_[cell].receive + 1, end, cells_[cell].to + (last ? to_end(cells_[cell]) : 0));
    }
    const std::vector<Cost> without = omitted.take(), over = others.take();
    for (std::int32_t receive = begin_; receive < decided; ++receive) {
      const auto k = static_cast<std::size_t>(receive - begin_);
      const Cell* best = nullptr;
      Cost second = over[k];
      for (std::uint32_t c = first_cell_[k]; c < first_cell_[k + 1]; ++c) {
        if (on_way[c]) {
          best = &cells_[c];
        } else if (cells_[c].on < k_infinite) {
          second = std::min(second, cells_[c].through());
        }
      }
      if (best == nullptr) continue;
      likely_.push_back({.send = best->send,
                         .receive = receive,
                         .others = second - total,
                         .omitted = without[k] - total});
    }
  }

  /// Starts the next block from the last couple that is decided, and the delays before it.
  void keep_tail(std::int32_t decided) {
    std::uint32_t at = way_end_;
    while (cells_[at].receive >= decided) at = cells_[at].back;
    std::vector<Cell> tail;
    for (; at != k_none && tail.size() < k_remember; at = cells_[at].back) {
      tail.push_back(cells_[at]);
    }
    std::reverse(tail.begin(), tail.end());
    for (std::uint32_t c = 0; c < tail.size(); ++c) {
      tail[c].back = c == 0 ? k_none : c - 1;
      tail[c].to = 0;
      tail[c].on = k_infinite;
    }
    cells_ = std::move(tail);
    links_.clear();
    begin_ = decided;
  }

  const Line sends_, receives_;
  const std::uint64_t scale_;              ///< by how much delays usually change
  std::int32_t begin_ = 0;                 ///< first receive of the block
  std::vector<Cell> cells_;                ///< what came before the block, then by receive and send
  std::vector<Link> links_;                ///< layer by layer
  std::vector<std::uint32_t> first_cell_;  ///< per receive of the block, and the end
  std::vector<std::uint32_t> open_;        ///< cells that the next link may start from
  std::uint32_t way_end_ = k_none;         ///< last cell of the cheapest explanation
  std::vector<Arrival> arrivals_;
  std::vector<std::int32_t> layer_;  ///< sends
  std::vector<Likely> likely_;
};

/// Both rows where neither is whole.
Alignment align_broken(const Row& sends, const Row& receives) {
  if (!sends.traits.empty() && !receives.traits.empty()) return Grid(sends, receives).solve();
  Alignment nobody;
  if (receives.ends_in_gap) nobody.sends_in_gaps = std::ssize(sends.traits);
  if (sends.ends_in_gap) nobody.receives_in_gaps = std::ssize(receives.traits);
  return nobody;
}

Row behind(Row row, std::uint32_t ends) {
  row.traits = row.traits.subspan(ends);
  return row;
}

}  // namespace

Alignment align_rows(const Row& sends, const Row& receives) {
  const std::uint32_t whole = std::min(sends.whole, receives.whole);
  Alignment aligned = align_broken(behind(sends, whole), behind(receives, whole));
  if (whole == 0) return aligned;
  std::vector<Alignment::Couple> couples;
  couples.reserve(whole + aligned.couples.size());
  for (std::uint32_t k = 0; k < whole; ++k) couples.push_back({k, k});
  for (const auto& [send, receive] : aligned.couples) {
    couples.push_back({send + whole, receive + whole});
  }
  aligned.couples = std::move(couples);
  return aligned;
}

}  // namespace entrain::verify
