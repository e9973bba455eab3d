// SPDX-License-Identifier: BSD-3-Clause
#include "verify/grid.hpp"

#include <array>
#include <bit>
#include <utility>

namespace entrain::verify {

namespace {

constexpr Cost k_stretch = 16, k_opposite = 6, k_couple = -4;
constexpr std::array<Cost, 6> k_moved = {0, 6, 14, 18, 20, 22};
constexpr Cost k_odd_delay = 12;
constexpr Cost k_little = 6;      ///< most for the delay of a plain couple
constexpr Cost k_far_ahead = 40;  ///< of other explanations
constexpr std::int32_t k_decide = 1024, k_ahead = 160;
constexpr std::int32_t k_enough = 6;
constexpr std::int64_t k_samples = 2048;  ///< of changes of delays

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

}  // namespace

std::uint64_t Grid::usual_change() const {
  std::uint64_t least = ~std::uint64_t{0};
  std::vector<std::uint64_t> changes;
  for (const std::int32_t more_sends : {-2, -1, 0, 1, 2, sends_.size() - receives_.size()}) {
    const std::int32_t send = std::max(more_sends, 0), receive = std::max(-more_sends, 0);
    const std::int64_t count = std::min(sends_.size() - send, receives_.size() - receive) - 1;
    const std::int64_t samples = std::min(count, k_samples);
    changes.clear();
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      const auto k = static_cast<std::int32_t>(sample * count / samples);
      changes.push_back(
          size_of(minus(delay(send + k + 1, receive + k + 1), delay(send + k, receive + k))));
    }
    if (changes.empty()) continue;
    const auto place = static_cast<std::ptrdiff_t>((changes.size() - 1) * 97 / 100);
    std::nth_element(changes.begin(), changes.begin() + place, changes.end());
    least = std::min(least, changes[place]);
  }
  return std::max<std::uint64_t>(least, 1);
}

/// Of what lies between a couple and the next one, or the end of the trace.
Cost Grid::between(const Cell& from, std::int32_t send, std::int32_t receive) const {
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
/// Of a delay after the couple `from`.
Cost Grid::delay_cost(const Cell& from, std::int64_t delay) const {
  if (from.delays == 0) return 0;
  const Cost most = from.delays < k_enough ? 2 * from.delays : k_odd_delay;
  const std::int64_t late = minus(delay, from.usual);
  const Cost bits = std::bit_width(size_of(late) / scale_);
  return late < 0 ? std::min(2 * most, 3 * bits) : std::min(most, 2 * bits);
}

bool Grid::plain_after(const Cell& last) const {
  const std::int32_t send = last.send + 1, receive = last.receive + 1;
  if (send == sends_.size() || receive == receives_.size()) return false;
  if (sends_[send].symbol != receives_[receive].symbol) return false;
  if (sends_[send].after_gap || receives_[receive].after_gap) return false;
  return shift(send, receive) == last.shift && delay_cost(last, delay(send, receive)) <= k_little;
}

Grid::Outcome Grid::explain(std::vector<Likely>& likely, std::int32_t begin, std::int32_t odd) {
  begin_ = begin;
  width_ = odd == k_never_plain ? 90 : 64;
  most_open_ = odd == k_never_plain ? 96 : 16;
  start_from(likely);
  std::int32_t end = std::min(receives_.size() - begin, k_decide + k_ahead) + begin;
  Outcome outcome{.decided = end == receives_.size() ? end : begin + k_decide};
  for (std::int32_t receive = begin; receive < end; ++receive) {
    add_layer(receive);
    if (const std::int32_t decided = settled(receive, odd)) {
      outcome = {decided, true};
      end = receive + 1;
    }
  }
  note_likely(outcome.decided, end, !outcome.plain && end == receives_.size(), likely);
  return outcome;
}

/// The first cells are the last couples that are decided, for their delays.
void Grid::start_from(const std::vector<Likely>& likely) {
  const std::size_t count = std::min<std::size_t>(likely.size(), LastDelays::k_most);
  cells_.assign(std::max<std::size_t>(count, 1), {});
  delays_.assign(cells_.size(), {});
  for (std::size_t c = 0; c < count; ++c) {
    const Likely& couple = likely[likely.size() - count + c];
    cells_[c].back = c == 0 ? k_none : static_cast<std::uint32_t>(c - 1);
    complete(cells_[c], couple.send, couple.receive);
  }
  cells_.back().to = 0;
  cells_.back().plain = 0;
  links_.clear();
  open_ = {static_cast<std::uint32_t>(cells_.size() - 1)};
  first_cell_ = {static_cast<std::uint32_t>(cells_.size())};
}

/// Adds the cells of a receive, and their links.
void Grid::add_layer(std::int32_t receive) {
  arrivals_.clear();
  Cost best = k_infinite;
  for (const std::uint32_t cell : open_) best = std::min(best, cells_[cell].to);
  for (const std::uint32_t cell : open_) find_arrivals(cell, receive, best + width_);
  layer_.clear();
  for (const Arrival& arrival : arrivals_) layer_.push_back(arrival.send);
  std::sort(layer_.begin(), layer_.end());
  layer_.erase(std::unique(layer_.begin(), layer_.end()), layer_.end());
  const auto first = static_cast<std::uint32_t>(cells_.size());
  cells_.resize(first + layer_.size());
  delays_.resize(cells_.size());
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
  close(best + width_);
}

/// The sends that may be next after a cell, if `receive` is: those that follow at once, those
/// that leave out as many sends as receives, and those near where the positions and the delay
/// stay as they were.
void Grid::find_arrivals(std::uint32_t from, std::int32_t receive, Cost most) {
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
  try_from(
      sends_.first_not(cell.send + 1, [&](const Trait& send) { return send.position < position; }) -
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

void Grid::try_send(std::uint32_t from, std::int32_t send, std::int32_t receive, Cost most) {
  if (sends_[send].symbol != receives_[receive].symbol) return;
  const Cell& cell = cells_[from];
  const Cost cost =
      between(cell, send, receive) + delay_cost(cell, delay(send, receive)) + k_couple;
  if (cell.to + cost <= most) arrivals_.push_back({send, from, cost});
}

void Grid::complete(Cell& cell, std::int32_t send, std::int32_t receive) {
  cell.send = send;
  cell.receive = receive;
  cell.shift = shift(send, receive);
  cell.plain = cell.back != k_none && cells_[cell.back].send + 1 == send &&
                       cells_[cell.back].receive + 1 == receive && plain_after(cells_[cell.back])
                   ? cells_[cell.back].plain + 1
                   : 0;
  LastDelays& last = delays_[static_cast<std::size_t>(&cell - cells_.data())];
  if (cell.back != k_none) last = delays_[cell.back];
  last.push(delay(send, receive));
  cell.delays = last.count();
  cell.usual = last.middle();
}

/// Gives up the explanations that cost more than `most`; of too many keeps the cheapest, of
/// equally cheap ones the last.
void Grid::close(Cost most) {
  std::erase_if(open_, [&](std::uint32_t cell) { return cells_[cell].to > most; });
  if (open_.size() <= most_open_) return;
  std::sort(open_.begin(), open_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(cells_[a].to, b) < std::pair(cells_[b].to, a);
  });
  open_.resize(most_open_);
}

/// If the cheapest explanation has been plain for a while since receive `odd` and leads by far, the
/// first receive that is not decided; else 0.
std::int32_t Grid::settled(std::int32_t receive, std::int32_t odd) const {
  const std::uint32_t first = first_cell_[first_cell_.size() - 2];
  if (odd > receive || first == cells_.size()) return 0;
  std::uint32_t best = first;
  for (std::uint32_t c = first; c < cells_.size(); ++c) {
    if (cells_[c].to < cells_[best].to) best = c;
  }
  const std::int32_t plain = cells_[best].plain;
  const bool asked = plain >= 16 && (plain & (plain - 1)) == 0;
  if (!asked || plain > receive - odd) return 0;
  const std::int32_t end = receive - plain / 2 + 1;
  const std::uint32_t common = last_before(best, end);
  for (const std::uint32_t cell : open_) {
    if (cells_[cell].to - cells_[best].to < k_far_ahead && last_before(cell, end) != common) {
      return 0;
    }
  }
  return end;
}

/// The last cell on the cheapest way to `cell` that belongs to a receive before `receive`.
std::uint32_t Grid::last_before(std::uint32_t cell, std::int32_t receive) const {
  while (cells_[cell].receive >= receive) cell = cells_[cell].back;
  return cell;
}

/// Computes Cell::on. Returns the cost of the cheapest explanation.
Cost Grid::finish(bool last) {
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
void Grid::note_likely(std::int32_t decided, std::int32_t end, bool last,
                       std::vector<Likely>& likely) {
  const Cost total = finish(last);
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
    likely.push_back({.send = best->send,
                      .receive = receive,
                      .others = second - total,
                      .omitted = without[k] - total});
  }
}

}  // namespace entrain::verify
