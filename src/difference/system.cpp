// SPDX-License-Identifier: BSD-3-Clause
#include "difference/system.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace entrain::difference {

/// Collects the arcs of a system under construction.
class System::Builder {
 public:
  Builder(System& system, const Constraints& constraints)
      : system_(system), constraints_(constraints) {}

  void run() {
    place_stamps();
    std::uint32_t number = 0;
    for (const Edge& edge : constraints_.edges) add(edge.cause, edge.effect, edge.delay, number++);
    for (const Session& session : constraints_.sessions) {
      const Node node = node_of(session.at);
      add_arc({.from = 0, .to = node, .number = number, .length = session.upper});
      add_arc({.from = node, .to = 0, .number = number++, .length = -session.lower});
    }
    for (const Instance& instance : constraints_.instances) add(instance, number++);
    system_.from_ =
        sorted([](const Row& row) { return row.from; }, [](const Row& row) { return row.to; });
    system_.to_ =
        sorted([](const Row& row) { return row.to; }, [](const Row& row) { return row.from; });
    sort_by_time();
  }

 private:
  struct Row {
    Node from = 0, to = 0;
    std::uint32_t number = 0;
    std::int64_t length = 0;
  };

  template <class Use>
  void for_each_event(Use use) const {
    for (const Edge& edge : constraints_.edges) use(edge.cause), use(edge.effect);
    for (const Session& session : constraints_.sessions) use(session.at);
    for (const Instance& instance : constraints_.instances) {
      for (const Event& event : instance.begins) use(event);
      for (const Event& event : instance.ends) use(event);
    }
    for (std::uint32_t clock = 0; clock < system_.clocks(); ++clock) {
      const auto& mean = system_.limits_[clock].mean;
      if (mean) use(Event{clock, mean->first}), use(Event{clock, mean->last});
    }
  }

  void place_stamps() {
    const std::uint32_t clocks = system_.clocks();
    std::vector<BigVector<std::int64_t>> stamps(clocks);
    for_each_event([&](const Event& event) {
      if (event.clock != system_.reference_) stamps[event.clock].push_back(event.stamp);
    });
    add_node(0, k_no_clock);
    for (std::uint32_t clock = 0; clock < clocks; ++clock) {
      BigVector<std::int64_t>& own = stamps[clock];
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

  void add_arc(const Row& row) {
    if (row.from != row.to || row.length < 0) rows_.push_back(row);
  }

  /// u_effect - u_cause >= cause + delay - effect: an arc from effect to cause.
  void add(Event cause, Event effect, std::int64_t delay, std::uint32_t number) {
    if (cause.clock == effect.clock) return;
    add_arc({.from = node_of(effect),
             .to = node_of(cause),
             .number = number,
             .length = effect.stamp - cause.stamp - delay});
  }

  void add(const Instance& instance, std::uint32_t number) {
    if (instance.begins.empty() || instance.ends.empty()) return;
    std::int64_t stamp = std::numeric_limits<std::int64_t>::min();
    for (const Event& begin : instance.begins) {
      stamp = std::max(stamp, begin.stamp + offset(begin.clock));
    }
    find_short_calls(instance);
    const Node middle = add_node(stamp, k_no_clock);
    for (const Event& begin : instance.begins) {
      if (is_short(begin.clock)) continue;
      add_arc(
          {.from = middle, .to = node_of(begin), .number = number, .length = stamp - begin.stamp});
    }
    if (!short_.empty()) add_short_calls(instance, stamp, number);
    for (const Event& end : instance.ends) {
      add_arc({.from = node_of(end),
               .to = middle,
               .number = number,
               .length = end.stamp - stamp - instance.delay});
    }
  }

  /// The begins of the clocks that find_short_calls() has found, with the ends of other clocks: two
  /// chains of auxiliary nodes, one for the ends of smaller clocks and one for those of larger
  /// ones.
  void add_short_calls(const Instance& instance, std::int64_t stamp, std::uint32_t number) {
    std::vector<Event> ends(instance.ends.begin(), instance.ends.end());
    const auto by_clock = [](const Event& a, const Event& b) { return a.clock < b.clock; };
    std::stable_sort(ends.begin(), ends.end(), by_clock);
    std::vector<Node> up(ends.size()), down(ends.size());
    const auto link = [&](std::vector<Node>& chain, std::size_t i, std::size_t previous) {
      chain[i] = add_node(stamp, k_no_clock);
      add_arc({.from = node_of(ends[i]),
               .to = chain[i],
               .number = number,
               .length = ends[i].stamp - stamp - instance.delay});
      if (previous >= ends.size()) return;
      add_arc({.from = chain[previous], .to = chain[i], .number = number, .length = 0});
    };
    for (std::size_t i = 0; i < ends.size(); ++i) link(up, i, i - 1);
    for (std::size_t i = ends.size(); i-- > 0;) link(down, i, i + 1);
    for (const Event& begin : instance.begins) {
      if (!is_short(begin.clock)) continue;
      const auto own = std::equal_range(ends.begin(), ends.end(), begin, by_clock);
      const auto add_from = [&](Node node) {
        add_arc(
            {.from = node, .to = node_of(begin), .number = number, .length = stamp - begin.stamp});
      };
      if (own.first != ends.begin()) {
        add_from(up[static_cast<std::size_t>(own.first - ends.begin()) - 1]);
      }
      if (own.second != ends.end()) {
        add_from(down[static_cast<std::size_t>(own.second - ends.begin())]);
      }
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
  template <class Key, class Other>
  [[nodiscard]] Arcs sorted(Key key, Other other) const {
    Arcs result;
    result.first.assign(std::size_t{system_.nodes()} + 1, 0);
    for (const Row& row : rows_) ++result.first[key(row) + 1];
    std::partial_sum(result.first.begin(), result.first.end(), result.first.begin());
    result.arcs.resize(rows_.size());
    BigVector<std::uint32_t> next(result.first.begin(), result.first.end() - 1);
    for (const Row& row : rows_) {
      result.arcs[next[key(row)]++] = {other(row), row.number, row.length};
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

System::Named System::name(std::uint32_t number) const {
  if (number < edges_) return {Kind::edge, number};
  if (number < edges_ + sessions_) return {Kind::session, number - edges_};
  return {Kind::instance, number - edges_ - sessions_};
}

}  // namespace entrain::difference
