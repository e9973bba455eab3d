// SPDX-License-Identifier: BSD-3-Clause
#include "difference/system.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace entrain::difference {

/// Collects the arcs of a system under construction.
class System::Builder {
 public:
  Builder(System& system, const Constraints& constraints)
      : system_(system), constraints_(constraints) {}

  void run() {
    place_stamps();
    for (const Edge& edge : constraints_.edges) add(edge), ++number_;
    for (const Session& session : constraints_.sessions) {
      const Node node = node_of(session.at);
      add_arc(0, node, session.upper);
      add_arc(node, 0, -session.lower);
      ++number_;
    }
    for (const Instance& instance : constraints_.instances) add(instance), ++number_;
    system_.from_ = sorted(&Row::from, &Row::to);
    system_.to_ = sorted(&Row::to, &Row::from);
    sort_by_time();
  }

 private:
  struct Row {
    Node from = 0, to = 0;
    std::uint32_t number = 0;
    std::int64_t length = 0;
  };

  void place_stamps() {
    const std::uint32_t clocks = system_.clocks();
    std::vector<BigVector<std::int64_t>> stamps(clocks);
    for_each_event(constraints_,
                   [&](const Event& event) { stamps[event.clock].push_back(event.stamp); });
    add_node(0, k_no_clock);
    for (std::uint32_t clock = 0; clock < clocks; ++clock) {
      BigVector<std::int64_t>& own = stamps[clock];
      if (const auto& mean = system_.limits_[clock].mean) {
        own.insert(own.end(), {mean->first, mean->last});
      }
      if (clock == system_.reference_) own.clear();
      std::sort(own.begin(), own.end());
      own.erase(std::unique(own.begin(), own.end()), own.end());
      system_.first_.push_back(system_.nodes());
      for (const std::int64_t stamp : own) add_node(stamp, clock);
    }
    system_.first_.push_back(system_.nodes());
    for (std::uint32_t clock = 0; clock < clocks; ++clock) {
      const auto& mean = system_.limits_[clock].mean;
      system_.lives_.emplace_back(mean ? node_of({clock, mean->first}) : 0,
                                  mean ? node_of({clock, mean->last}) : 0);
    }
  }

  Node add_node(std::int64_t stamp, std::uint32_t clock) {
    system_.stamp_.push_back(stamp);
    system_.clock_.push_back(clock);
    return system_.nodes() - 1;
  }

  [[nodiscard]] Node node_of(Event event) const { return *system_.find(event); }
  [[nodiscard]] std::int64_t offset(std::uint32_t clock) const {
    return constraints_.offsets.empty() ? 0 : constraints_.offsets[clock];
  }

  /// An arc of the constraint at hand.
  void add_arc(Node from, Node to, std::int64_t length) {
    if (from != to || length < 0) rows_.push_back({from, to, number_, length});
  }

  /// u_effect - u_cause >= cause + delay - effect: an arc from effect to cause.
  void add(const Edge& edge) {
    const auto& [cause, effect, delay] = edge;
    if (cause.clock == effect.clock) return;
    add_arc(node_of(effect), node_of(cause), effect.stamp - cause.stamp - delay);
  }

  void add(const Instance& instance) {
    if (instance.begins.empty() || instance.ends.empty()) return;
    std::int64_t stamp = std::numeric_limits<std::int64_t>::min();
    for (const Event& begin : instance.begins) {
      stamp = std::max(stamp, begin.stamp + offset(begin.clock));
    }
    find_short_calls(instance);
    const Node middle = add_node(stamp, k_no_clock);
    for (const Event& begin : instance.begins) {
      if (!is_short(begin.clock)) add_arc(middle, node_of(begin), stamp - begin.stamp);
    }
    if (!short_.empty()) add_short_calls(instance, stamp);
    for (const Event& end : instance.ends) {
      add_arc(node_of(end), middle, end.stamp - stamp - instance.delay);
    }
  }

  /// The begins of the clocks that find_short_calls() has found, with the ends of other clocks: two
  /// chains of auxiliary nodes, one for the ends of smaller clocks and one for those of larger
  /// ones.
  void add_short_calls(const Instance& instance, std::int64_t stamp) {
    std::vector<Event> ends(instance.ends.begin(), instance.ends.end());
    std::ranges::stable_sort(ends, {}, &Event::clock);
    std::vector<Node> up(ends.size()), down(ends.size());
    const auto link = [&](std::vector<Node>& chain, std::size_t i, std::size_t previous) {
      chain[i] = add_node(stamp, k_no_clock);
      add_arc(node_of(ends[i]), chain[i], ends[i].stamp - stamp - instance.delay);
      if (previous < ends.size()) add_arc(chain[previous], chain[i], 0);
    };
    for (std::size_t i = 0; i < ends.size(); ++i) link(up, i, i - 1);
    for (std::size_t i = ends.size(); i-- > 0;) link(down, i, i + 1);
    for (const Event& begin : instance.begins) {
      if (!is_short(begin.clock)) continue;
      const auto own = std::ranges::lower_bound(ends, begin.clock, {}, &Event::clock);
      const auto next = std::ranges::upper_bound(ends, begin.clock, {}, &Event::clock);
      const auto first = static_cast<std::size_t>(own - ends.begin());
      const auto last = static_cast<std::size_t>(next - ends.begin());
      if (first > 0) add_arc(up[first - 1], node_of(begin), stamp - begin.stamp);
      if (last < ends.size()) add_arc(down[last], node_of(begin), stamp - begin.stamp);
    }
  }

  /// Finds the clocks whose own ends do not follow their own begins by the delay at any rate that a
  /// limit may allow. By way of the auxiliary node they would have to.
  void find_short_calls(const Instance& instance) {
    short_.clear();
    if (last_begin_.empty()) last_begin_.resize(system_.clocks(), k_none);
    for (const Event& begin : instance.begins) {
      last_begin_[begin.clock] = std::max(last_begin_[begin.clock], begin.stamp);
    }
    for (const Event& end : instance.ends) {
      const std::int64_t begin = last_begin_[end.clock];
      if (begin == k_none) continue;
      const std::int64_t length = end.stamp - begin;
      const std::int64_t shortest = length - length / 10 - 1;  // at a rate of a tenth
      const bool follows = length >= 0 && (instance.delay == 0 || instance.delay <= shortest);
      if (!follows) short_.push_back(end.clock);
    }
    for (const Event& begin : instance.begins) last_begin_[begin.clock] = k_none;
    std::sort(short_.begin(), short_.end());
  }
  [[nodiscard]] bool is_short(std::uint32_t clock) const {
    return std::binary_search(short_.begin(), short_.end(), clock);
  }

  /// The arcs by one of their ends.
  [[nodiscard]] Arcs sorted(Node Row::*key, Node Row::*other) const {
    Arcs result;
    result.first.assign(std::size_t{system_.nodes()} + 1, 0);
    for (const Row& row : rows_) ++result.first[row.*key + 1];
    std::partial_sum(result.first.begin(), result.first.end(), result.first.begin());
    result.arcs.resize(rows_.size());
    BigVector<std::uint32_t> next(result.first.begin(), result.first.end() - 1);
    for (const Row& row : rows_) {
      result.arcs[next[row.*key]++] = {row.*other, row.number, row.length};
    }
    return result;
  }

  void sort_by_time() {
    const Node nodes = system_.nodes();
    BigVector<std::pair<std::int64_t, Node>> times;
    times.reserve(nodes);
    times.emplace_back(std::numeric_limits<std::int64_t>::min(), 0);
    for (Node node = 1; node < nodes; ++node) {
      const std::uint32_t clock = system_.clock_[node];
      times.emplace_back(system_.stamp_[node] + (clock == k_no_clock ? 0 : offset(clock)), node);
    }
    std::sort(times.begin(), times.end());
    system_.order_.reserve(nodes);
    system_.position_.resize(nodes);
    for (const auto& [time, node] : times) {
      system_.position_[node] = static_cast<std::uint32_t>(system_.order_.size());
      system_.order_.push_back(node);
    }
  }

  static constexpr std::int64_t k_none = std::numeric_limits<std::int64_t>::min();

  System& system_;
  const Constraints& constraints_;
  std::uint32_t number_ = 0;  ///< constraint at hand
  BigVector<Row> rows_;
  std::vector<std::int64_t> last_begin_;  ///< last begin of every clock in the instance at hand
  std::vector<std::uint32_t> short_;      ///< clocks, increasing
};

System::System(const Constraints& constraints)
    : reference_(constraints.reference),
      edges_(static_cast<std::uint32_t>(constraints.edges.size())),
      sessions_(static_cast<std::uint32_t>(constraints.sessions.size())),
      limits_(constraints.clocks.begin(), constraints.clocks.end()) {
  Builder(*this, constraints).run();
}

std::optional<Node> System::find(Event event) const {
  if (event.clock == reference_) return 0;
  const auto begin = stamp_.begin() + first_[event.clock];
  const auto end = stamp_.begin() + first_[event.clock + 1];
  const auto found = std::lower_bound(begin, end, event.stamp);
  if (found == end || *found != event.stamp) return std::nullopt;
  return static_cast<Node>(found - stamp_.begin());
}

void System::leave_out(std::span<const std::uint32_t> numbers) {
  constexpr std::int64_t k_no_limit = std::int64_t{1} << 62;
  for (Arcs* const arcs : {&from_, &to_}) {
    for (Arc& arc : arcs->arcs) {
      if (std::binary_search(numbers.begin(), numbers.end(), arc.number)) arc.length = k_no_limit;
    }
  }
}

std::pair<System::Kind, std::uint32_t> System::name(std::uint32_t number) const {
  if (number < edges_) return {Kind::edge, number};
  if (number < edges_ + sessions_) return {Kind::session, number - edges_};
  return {Kind::instance, number - edges_ - sessions_};
}

BigVector<Edge> without_implied(std::span<const Edge> edges, std::span<const ClockLimits> clocks) {
  // The edges that the last one kept of the same clocks does not imply.
  const auto passed = [&](const BigVector<Edge>& some) {
    BigVector<Edge> kept;
    for (const Edge& one : some) {
      const bool is_implied = !kept.empty() && kept.back().cause.clock == one.cause.clock &&
                              kept.back().effect.clock == one.effect.clock &&
                              is_implied_by(one, kept.back(), clocks[one.cause.clock].rate,
                                            clocks[one.effect.clock].rate);
      if (!is_implied) kept.push_back(one);
    }
    return kept;
  };
  BigVector<Edge> sorted(edges.begin(), edges.end());
  std::ranges::sort(sorted, {}, [](const Edge& one) {
    return std::tie(one.cause.clock, one.effect.clock, one.effect.stamp, one.cause.stamp,
                    one.delay);
  });
  // An edge implies others after it, and others before it.
  BigVector<Edge> kept = passed(sorted);
  std::ranges::reverse(kept);
  kept = passed(kept);
  std::ranges::reverse(kept);
  return kept;
}

}  // namespace entrain::difference
