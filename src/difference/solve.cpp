// SPDX-License-Identifier: BSD-3-Clause
#include "difference/solve.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <tuple>
#include <utility>

namespace entrain::difference {

namespace {

/// Whether a search lowers values along the arcs, or raises them against the arcs.
enum class Way : std::uint8_t { lower, raise };

constexpr std::uint32_t k_rate_arc = 0xFFFFFFFF;  ///< number of an arc along a clock
constexpr std::uint32_t k_mean_arc = 0xFFFFFFFE;  ///< the same between the ends of its life
constexpr Node k_nobody = 0xFFFFFFFF;

/// Changes values until they meet all constraints. Raising works with the values' negatives on the
/// graph whose arcs are turned around: then it is lowering.
template <Way way>
class Search {
 public:
  Search(const System& system, Values& values, Effort& effort)
      : system_(system),
        values_(values),
        effort_(effort),
        order_(system.order()),
        positions_(system.positions()),
        before_(system.nodes(), k_nobody),
        number_(system.nodes(), 0),
        active_((system.nodes() + 63) / 64) {
    activate_all();
  }

  std::optional<Failure> run() {
    if constexpr (way == Way::raise) negate();
    std::uint64_t next_look = k_sweeps_per_look;
    std::uint64_t changes_before = changes_;
    const std::uint64_t before = effort_.spent;
    std::uint64_t enough = effort_.most;
    for (std::uint64_t sweeps = 1;; ++sweeps) {
      if (!sweep(sweeps % 2 == 1)) break;
      if (effort_.spent > enough) return failure();
      if (sweeps < next_look && changes_ - changes_before < 4 * std::uint64_t{system_.nodes()}) {
        continue;
      }
      if (sweeps >= next_look) next_look *= 2;
      changes_before = changes_;
      if (std::vector<Certificate> cycles = find_cycles(); !cycles.empty()) {
        const std::uint64_t spent = effort_.spent - before;
        if (found_.empty()) enough = std::min(enough, effort_.spent + k_more_steps * spent);
        set_aside(std::move(cycles));
        if (!effort_.more_cycles) return failure();
        next_look = sweeps + k_sweeps_per_look;
      }
      follow_predecessors();
    }
    if (!found_.empty()) return failure();
    if constexpr (way == Way::raise) negate();
    return std::nullopt;
  }

  /// After a failure, and after limits on rates were raised: run() goes on from where it stopped.
  /// Constraints that hold still hold, so only what was to be visited is.
  void resume() {
    std::fill(before_.begin(), before_.end(), k_nobody);  // paths along a clock are longer now
    for (const auto& [node, value] : set_aside_) {
      values_[node] = value;
      activate(node);
    }
    if (effort_.more_cycles) activate_all();  // arcs to what was set aside were not tried
    set_aside_.clear();
    found_.clear();
  }

 private:
  /// Sweeps after which predecessors are searched for a cycle.
  static constexpr std::uint64_t k_sweeps_per_look = 4;
  /// Effort::more_cycles: steps after the first cycle, as a multiple of those that found it.
  static constexpr std::uint64_t k_more_steps = 4;

  void activate_all() {
    std::fill(active_.begin(), active_.end(), ~std::uint64_t{0});
    const std::uint32_t rest = system_.nodes() % 64;
    if (rest != 0) active_.back() = (std::uint64_t{1} << rest) - 1;
    behind_ = {0, active_.size() - 1};
  }
  void activate(Node node) {
    const std::uint32_t position = positions_[node];
    active_[position / 64] |= std::uint64_t{1} << position % 64;
    ahead_.add(position / 64);  // a word behind is not visited, and belongs to the next sweep
    behind_.add(position / 64);
  }

  void negate() {
    for (Exact& value : values_) value = -value;
  }

  /// Words of `active_` that may have bits: first and last one.
  struct Words {
    std::size_t first = 0, last = 0;
    void add(std::size_t word) { first = std::min(first, word), last = std::max(last, word); }
  };
  [[nodiscard]] Words no_words() const { return {active_.size(), 0}; }

  /// Visits all active nodes, upward or downward in their order, also those that become active
  /// ahead; those that become active behind wait for the next sweep. False if there was none.
  bool sweep(bool up) {
    ahead_ = std::exchange(behind_, no_words());
    bool any = false;
    for (std::size_t word = up ? ahead_.first : ahead_.last;
         word >= ahead_.first && word <= ahead_.last; up ? ++word : --word) {
      std::uint64_t ahead = ~std::uint64_t{0};
      while (const std::uint64_t bits = active_[word] & ahead) {
        const int bit = up ? std::countr_zero(bits) : 63 - std::countl_zero(bits);
        ahead = up ? ~std::uint64_t{0} << bit << 1 : (std::uint64_t{1} << bit) - 1;
        visit(word, bit);
        any = true;
      }
    }
    return any;
  }

  /// Orders the nodes by the forest of predecessors, each after its own. A path that turns in time
  /// at every clock would else take a sweep for each turn.
  void follow_predecessors() {
    BigVector<Node> order;
    order.reserve(system_.nodes());
    BigVector<std::uint32_t> positions(system_.nodes(), k_nobody);
    std::vector<Node> path;
    for (Node node : order_) {
      for (; node != k_nobody && positions[node] == k_nobody; node = before_[node]) {
        positions[node] = 0;
        path.push_back(node);
      }
      for (; !path.empty(); path.pop_back()) {
        positions[path.back()] = static_cast<std::uint32_t>(order.size());
        order.push_back(path.back());
      }
    }
    BigVector<std::uint64_t> active(active_.size(), 0);
    for (std::uint32_t before = 0; before < order_.size(); ++before) {
      if ((active_[before / 64] >> before % 64 & 1) == 0) continue;
      const std::uint32_t now = positions[order_[before]];
      active[now / 64] |= std::uint64_t{1} << now % 64;
    }
    active_ = std::move(active);
    behind_ = {0, active_.size() - 1};
    own_order_ = std::move(order);
    own_positions_ = std::move(positions);
    order_ = own_order_;
    positions_ = own_positions_;
  }

  void visit(std::size_t word, int bit) {
    active_[word] &= ~(std::uint64_t{1} << bit);
    const Node node = order_[word * 64 + static_cast<std::size_t>(bit)];
    const Exact value = values_[node];
    if (value > k_unbounded / 2) return;
    const auto arcs = way == Way::lower ? system_.arcs_from(node) : system_.arcs_to(node);
    effort_.spent += arcs.size() + 1;
    for (const System::Arc& arc : arcs) {
      lower(node, arc.other, value + Exact{arc.length} * k_tick, arc.number);
    }
    system_.for_each_limit(node, way == Way::lower, [&](Node other, Exact most, bool is_mean) {
      lower(node, other, value + most, is_mean ? k_mean_arc : k_rate_arc);
    });
  }

  void lower(Node from, Node to, Exact value, std::uint32_t number) {
    if (value >= values_[to]) return;
    values_[to] = value;
    before_[to] = from;
    number_[to] = number;
    ++changes_;
    activate(to);
  }

  /// All cycles of predecessors: these are negative ones, and sooner or later there is one if the
  /// system is infeasible (Cherkassky and Goldberg 1999, "Negative-cycle detection algorithms").
  [[nodiscard]] std::vector<Certificate> find_cycles() const {
    std::vector<Certificate> cycles;
    BigVector<std::uint32_t> seen(system_.nodes(), 0);  // number of the walk; 0: not seen
    for (Node start = 0; start < system_.nodes(); ++start) {
      Node node = start;
      while (node != k_nobody && seen[node] == 0) {
        seen[node] = start + 1;
        node = before_[node];
      }
      if (node == k_nobody || seen[node] != start + 1) continue;
      cycles.push_back(certificate(node));
    }
    return cycles;
  }

  /// Keeps cycles, and takes their nodes out of the search.
  void set_aside(std::vector<Certificate> cycles) {
    for (Certificate& cycle : cycles) {
      for (const Certificate::Step& step : cycle.steps) {
        const std::uint32_t position = positions_[step.to];
        set_aside_.emplace_back(step.to, std::exchange(values_[step.to], -k_unbounded));
        before_[step.to] = k_nobody;
        active_[position / 64] &= ~(std::uint64_t{1} << position % 64);
      }
      found_.push_back(std::move(cycle));
    }
  }
  /// The cycles that were found; none: the search was stopped.
  [[nodiscard]] Failure failure() {
    if (found_.empty()) return {};
    Failure failure{.certificate = std::move(found_.front())};
    failure.more.assign(std::make_move_iterator(found_.begin() + 1),
                        std::make_move_iterator(found_.end()));
    return failure;
  }

  /// The cycle of predecessors that a node is on.
  [[nodiscard]] Certificate certificate(Node first) const {
    Certificate result;
    Node node = first;
    do {
      result.steps.push_back(step(before_[node], node));
      node = before_[node];
    } while (node != first);
    if (way == Way::lower) std::reverse(result.steps.begin(), result.steps.end());
    for (const Certificate::Step& step : result.steps) {
      result.length += step.length;
      if (step.kind == Certificate::Kind::rate) {
        result.rate_ticks += std::abs(system_.stamp(step.to) - system_.stamp(step.from));
      }
    }
    return result;
  }

  /// The arc by which `to` got its value from `from`, in its own direction.
  [[nodiscard]] Certificate::Step step(Node from, Node to) const {
    const std::uint32_t number = number_[to];
    if (way == Way::raise) std::swap(from, to);
    Certificate::Step step{.from = from, .to = to};
    if (number >= k_mean_arc) {
      const bool is_mean = number == k_mean_arc;
      step.kind = is_mean ? Certificate::Kind::mean : Certificate::Kind::rate;
      step.position = system_.clock(from);
      system_.for_each_limit(from, true, [&](Node other, Exact most, bool is_other_mean) {
        if (other == to && is_other_mean == is_mean) step.length = most;
      });
      return step;
    }
    std::tie(step.kind, step.position) = system_.name(number);
    step.length = k_unbounded;
    for (const System::Arc& arc : system_.arcs_from(from)) {
      if (arc.other != to || arc.number != number) continue;
      step.length = std::min(step.length, Exact{arc.length} * k_tick);
    }
    return step;
  }

  const System& system_;
  Values& values_;
  Effort& effort_;
  std::span<const Node> order_;
  std::span<const std::uint32_t> positions_;
  BigVector<Node> own_order_;  ///< what order_ and positions_ show once they follow predecessors
  BigVector<std::uint32_t> own_positions_;
  BigVector<Node> before_;           ///< predecessor of every node: its value comes from there
  BigVector<std::uint32_t> number_;  ///< arc by which it came
  /// Bit of every position: the value changed since arcs were tried.
  BigVector<std::uint64_t> active_;
  Words ahead_, behind_;  ///< those of this sweep and of the next one
  std::uint64_t changes_ = 0;
  std::vector<Certificate> found_;                 ///< cycles that were set aside
  std::vector<std::pair<Node, Exact>> set_aside_;  ///< their nodes, and the values before
};

template <Way way>
Solved<Values> solve(const System& system, Values values, Effort& effort) {
  auto failure = Search<way>(system, values, effort).run();
  if (failure) return tl::unexpected(*std::move(failure));
  return values;
}

/// Values in which nothing is limited but the reference.
Values only_reference(const System& system, Exact others) {
  Values values(system.nodes(), others);
  values[0] = 0;
  return values;
}

}  // namespace

Solved<Values> greatest_below(const System& system, Values start, Effort& effort) {
  return solve<Way::lower>(system, std::move(start), effort);
}

Solved<Values> least_above(const System& system, Values start, Effort& effort) {
  return solve<Way::raise>(system, std::move(start), effort);
}

Solved<Bounds> find_bounds(const System& system, Effort& effort) {
  // Cycles that no path leads to from the reference show from any finite start.
  if (auto any = greatest_below(system, Values(system.nodes(), 0), effort); !any) {
    return tl::unexpected(std::move(any.error()));
  }
  return bounds_from_reference(system, effort);
}

Solved<Bounds> bounds_from_reference(const System& system, Effort& effort) {
  auto upper = greatest_below(system, only_reference(system, k_unbounded), effort);
  if (!upper) return tl::unexpected(std::move(upper.error()));
  auto lower = least_above(system, only_reference(system, -k_unbounded), effort);
  if (!lower) return tl::unexpected(std::move(lower.error()));
  return Bounds{std::move(*lower), std::move(*upper)};
}

Solved<Values> project(const System& system, const Bounds& bounds, const Values& estimate,
                       Effort& effort) {
  // An auxiliary node has no estimate: it takes part from where it limits nothing.
  Values low(system.nodes(), -k_unbounded), high(system.nodes(), k_unbounded);
  for (Node node = 0; node < system.stamped(); ++node) {
    low[node] = high[node] = std::clamp(estimate[node], bounds.lower[node], bounds.upper[node]);
  }
  auto above = least_above(system, std::move(low), effort);
  if (!above) return above;
  const auto below = greatest_below(system, std::move(high), effort);
  if (!below) return below;
  above->resize(system.stamped());
  for (Node node = 0; node < system.stamped(); ++node) {
    (*above)[node] = floor_div((*above)[node] + (*below)[node], 2);
  }
  return above;
}

Solved<LeastRate> set_least_rate(System& system, Effort& effort, LimitRange within,
                                 const Values& start) {
  std::int64_t rate = within.least_ppb;
  const auto set_rate = [&] {
    for (std::uint32_t clock = 0; clock < system.clocks(); ++clock)
      system.set_rate(clock, RateRange::within(rate));
  };
  Values values = start.empty() ? Values(system.nodes(), 0) : start;
  Search<Way::lower> search(system, values, effort);
  for (set_rate();; set_rate(), search.resume()) {
    const auto failure = search.run();
    if (!failure) return LeastRate{rate, std::move(values)};
    if (!failure->certificate || failure->certificate->rate_ticks == 0)
      return tl::unexpected(*failure);
    // Cycles' lengths are below 0, so each round raises the rate (Newton's method).
    std::int64_t more = failure->certificate->least_raise();
    for (const Certificate& one : failure->more) {
      if (one.rate_ticks != 0) more = std::max(more, one.least_raise());
    }
    rate += more;
    if (rate > within.most_ppb) return tl::unexpected(*failure);
  }
}

}  // namespace entrain::difference
