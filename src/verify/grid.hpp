// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "base/ids.hpp"
#include "verify/alignment.hpp"

namespace entrain::verify {

/// Costs are in bits; section 2.1 of docs/method.md explains the constants.
using Cost = std::int64_t;
inline constexpr Cost k_infinite = std::numeric_limits<Cost>::max() / 4;

/// a - b modulo 2^64.
inline std::int64_t minus(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::int64_t>(a - b);
}
inline std::int64_t minus(std::int64_t a, std::int64_t b) {
  return minus(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b));
}
inline std::uint64_t size_of(std::int64_t value) {
  return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

/// A row, and the number of gaps up to each of its ends. Index -1 stands for the begin of the
/// trace.
class Line {
 public:
  explicit Line(const Row& row) : row_(row) {
    const auto after_gap = [](const Trait& trait) { return trait.after_gap; };
    if (std::none_of(row.traits.begin(), row.traits.end(), after_gap)) return;
    gaps_.resize(row.traits.size() + 1, 0);
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
    if (to == size() && row_.ends_in_gap) return true;
    return !gaps_.empty() && gaps_[from + 1] != gaps_[std::min(to + 1, size())];
  }
  /// The first end in [from, size()) for which `is_before(trait)` is false; size() if there is
  /// none. Looked for in steps of 1, 2, 4, ..., then by halves.
  template <class IsBefore>
  [[nodiscard]] std::int32_t first_not(std::int32_t from, IsBefore is_before) const {
    const auto is_first = [&](std::int32_t i) { return i >= size() || !is_before(row_.traits[i]); };
    std::int32_t end = from;
    for (std::int32_t step = 1; !is_first(end); step *= 2) {
      from = end + 1;
      end = std::min(end + step, size());
    }
    while (from < end) {
      const std::int32_t middle = from + (end - from) / 2;
      is_first(middle) ? end = middle : from = middle + 1;
    }
    return from;
  }

 private:
  const Row& row_;
  std::vector<std::uint32_t> gaps_;  ///< empty if there are none
};

/// The last 16 delays, and the lower middle of them.
class LastDelays {
 public:
  static constexpr std::size_t k_most = 16;

  void push(std::int64_t delay) {
    auto end = order_.begin() + count_;
    if (count_ == std::ssize(ring_)) {
      const auto oldest = std::lower_bound(order_.begin(), end, ring_[next_]);
      end = std::copy(oldest + 1, end, oldest);
    } else {
      ++count_;
    }
    ring_[next_] = delay;
    next_ = (next_ + 1) % k_most;
    const auto place = std::upper_bound(order_.begin(), end, delay);
    std::copy_backward(place, end, end + 1);
    *place = delay;
  }
  [[nodiscard]] std::int32_t count() const { return count_; }
  [[nodiscard]] std::int64_t middle() const { return order_[(count_ - 1) / 2]; }

 private:
  std::array<std::int64_t, k_most> ring_{}, order_{};
  std::size_t next_ = 0;
  std::int32_t count_ = 0;
};

/// A couple that explanations may contain, with the cheapest ones that do.
struct Cell {
  std::int32_t send = -1, receive = -1;
  std::uint32_t back = k_none;  ///< the couple before it in the cheapest one
  Cost to = k_infinite;         ///< from the first cell to this one
  Cost on = k_infinite;         ///< from this one to the end
  std::int64_t shift = 0;       ///< how far the positions are apart
  std::int64_t usual = 0;       ///< the middle of the last delays up to here
  std::int32_t delays = 0;
  std::int32_t plain = 0;  ///< couples in a row up to here about which nothing is odd

  [[nodiscard]] Cost through() const { return to + on; }
};

/// A couple of a cheapest explanation; by how much others cost more.
struct Likely {
  std::int32_t send = 0, receive = 0;
  Cost others = k_infinite;   ///< those that leave the cheapest one
  Cost omitted = k_infinite;  ///< those that only omit the couple
};

/// The two rows span a grid: receives are its layers, and a layer has a cell for each send that is
/// worth a thought. Stretches of layers are explained one after the other.
class Grid {
 public:
  Grid(const Row& sends, const Row& receives)
      : sends_(sends), receives_(receives), scale_(usual_change()) {}

  [[nodiscard]] const Line& sends() const { return sends_; }
  [[nodiscard]] const Line& receives() const { return receives_; }
  [[nodiscard]] std::int64_t delay(std::int32_t send, std::int32_t receive) const {
    return minus(receives_[receive].time, sends_[send].time);
  }
  [[nodiscard]] std::int64_t shift(std::int32_t send, std::int32_t receive) const {
    return receives_.position(receive) - sends_.position(send);
  }
  /// Whether nothing is odd about the couple that follows `last` at once.
  [[nodiscard]] bool plain_after(const Cell& last) const;
  /// Of what lies between a couple and the end of the trace.
  [[nodiscard]] Cost to_end(const Cell& from) const {
    return between(from, sends_.size(), receives_.size());
  }

  /// What a stretch came to.
  struct Outcome {
    std::int32_t decided = 0;  ///< the first receive that is not decided
    bool plain = false;        ///< the cheapest explanation became plain after the odd receive
  };
  static constexpr std::int32_t k_never_plain = std::numeric_limits<std::int32_t>::max();
  /// Goes on after the last of `likely` with the receives from `begin` on, and adds the couples of
  /// the cheapest explanation. Ends early where nothing has been odd for long after receive `odd`.
  Outcome explain(std::vector<Likely>& likely, std::int32_t begin, std::int32_t odd);

 private:
  /// The next couple of an explanation.
  struct Link {
    std::uint32_t from = k_none, to = k_none;
    Cost cost = 0;
  };
  /// A link whose cell is not there yet.
  struct Arrival {
    std::int32_t send;
    std::uint32_t from;
    Cost cost;
  };

  [[nodiscard]] std::uint64_t usual_change() const;
  [[nodiscard]] Cost between(const Cell& from, std::int32_t send, std::int32_t receive) const;
  [[nodiscard]] Cost delay_cost(const Cell& from, std::int64_t delay) const;
  void start_from(const std::vector<Likely>& likely);
  void add_layer(std::int32_t receive);
  void find_arrivals(std::uint32_t from, std::int32_t receive, Cost most);
  void try_send(std::uint32_t from, std::int32_t send, std::int32_t receive, Cost most);
  void complete(Cell& cell, std::int32_t send, std::int32_t receive);
  void close(Cost most);
  [[nodiscard]] std::int32_t settled(std::int32_t receive, std::int32_t odd) const;
  [[nodiscard]] std::uint32_t last_before(std::uint32_t cell, std::int32_t receive) const;
  Cost finish(bool last);
  void note_likely(std::int32_t decided, std::int32_t end, bool last, std::vector<Likely>& likely);

  const Line sends_, receives_;
  const std::uint64_t scale_;  ///< by how much delays usually change
  std::int32_t begin_ = 0;     ///< first receive of the stretch
  Cost width_ = 0;             ///< explanations that cost so much more than the cheapest are closed
  std::size_t most_open_ = 0;
  std::vector<Cell> cells_;                ///< what came before, then by receive and send
  std::vector<LastDelays> delays_;         ///< per cell
  std::vector<Link> links_;                ///< layer by layer
  std::vector<std::uint32_t> first_cell_;  ///< per receive of the stretch, and the end
  std::vector<std::uint32_t> open_;        ///< cells that the next link may start from
  std::uint32_t way_end_ = k_none;         ///< last cell of the cheapest explanation
  std::vector<Arrival> arrivals_;
  std::vector<std::int32_t> layer_;  ///< sends
};

}  // namespace entrain::verify
