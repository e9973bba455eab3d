// SPDX-License-Identifier: BSD-3-Clause
#include "causal/edge_constraints.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/executor.hpp"
#include "base/flat_map.hpp"
#include "match/parts.hpp"

namespace entrain::causal {

namespace {

struct KeyHash {
  std::uint64_t operator()(std::uint64_t key) const { return mix(key); }
};

class Collector {
 public:
  Collector(const match::Graph& graph, const ConstraintOptions& options)
      : graph_(graph),
        options_(options),
        times_(options.times),
        width_(std::max<std::int64_t>((options.end - options.begin) / options.windows + 1, 1)),
        recent_(options.clocks) {}

  void collect(const match::Part& part) {
    for_edges(graph_, part, times_,
              [&](const match::Edge& edge, LocationIndex from, LocationIndex to) {
                add(edge.send, from, edge.receive, to, edge.latency_class);
              });
    for (const match::Exchange& exchange : part.exchanges) add(exchange);
  }

  void add(const Collector& other) {
    for (const Known& known : other.known_) add(known.constraint);
  }

  /// Keeps it if it is the tightest one so far.
  void add(const ClockConstraint& constraint) {
    move_to_window(constraint.to_time);
    const Known found{constraint, tightness(constraint)};
    // Edges come by location and time, so mostly the last constraint of the sender has the same
    // pair and window.
    Recent& recent = recent_[constraint.from];
    if (const std::uint64_t key = this->key(constraint); recent.key != key) {
      const auto [number, is_new] = numbers_.insert(key, static_cast<std::uint32_t>(known_.size()));
      recent = {key, *number};
      if (is_new) return known_.push_back(found);
    }
    if (found.before(known_[recent.number])) known_[recent.number] = found;
  }

  /// Sorted: the order does not depend on who found them.
  std::vector<ClockConstraint> take() && {
    std::vector<std::size_t> first(options_.clocks + std::size_t{1}, 0);  // per receiving clock
    for (const Known& known : known_) ++first[known.constraint.to + std::size_t{1}];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<ClockConstraint> constraints(known_.size());
    std::vector<std::size_t> next = first;
    for (const Known& known : known_) constraints[next[known.constraint.to]++] = known.constraint;
    const auto at = [&](std::size_t i) {
      return constraints.begin() + static_cast<std::ptrdiff_t>(first[i]);
    };
    const std::size_t parts = std::min<std::size_t>(options_.clocks, k_sorted_parts);
    for_each_in_parallel(options_.threads, parts, [&](std::size_t part) {
      for (std::size_t to = part; to < options_.clocks; to += parts) {
        std::sort(at(to), at(to + 1), [](const ClockConstraint& a, const ClockConstraint& b) {
          return std::tie(a.to_time, a.from, a.from_time) <
                 std::tie(b.to_time, b.from, b.from_time);
        });
      }
    });
    return constraints;
  }

 private:
  /// Threads that sorting is shared out among, at most.
  static constexpr std::size_t k_sorted_parts = 64;

  struct Known {
    ClockConstraint constraint;
    double tightness = 0;  ///< slack with the errors as known; less is tighter
    /// A total order: ties do not depend on the order of adding.
    [[nodiscard]] bool before(const Known& other) const {
      return std::tie(tightness, constraint.to_time, constraint.from_time, constraint.slack) <
             std::tie(other.tightness, other.constraint.to_time, other.constraint.from_time,
                      other.constraint.slack);
    }
  };

  struct Recent {
    std::uint64_t key = std::numeric_limits<std::uint64_t>::max();
    std::uint32_t number = 0;
  };

  /// Makes window_ the one that holds `time`.
  void move_to_window(std::int64_t time) {
    if (time >= window_begin_ && time < window_end_) return;
    const auto window = static_cast<std::uint64_t>((time - options_.begin) / width_);
    window_ = std::min<std::uint64_t>(window, options_.windows - 1);
    window_begin_ = options_.begin + static_cast<std::int64_t>(window_) * width_;
    window_end_ = window_begin_ + width_;
  }

  [[nodiscard]] double error(std::uint32_t clock, std::int64_t time) const {
    return options_.errors == nullptr ? 0 : (*options_.errors)(clock, time);
  }
  [[nodiscard]] double tightness(const ClockConstraint& constraint) const {
    const double slack = static_cast<double>(constraint.slack) -
                         error(constraint.to, constraint.to_time) +
                         error(constraint.from, constraint.from_time);
    if (options_.rate == 0) return slack;
    const std::int64_t middle = window_begin_ + width_ / 2;
    return slack + options_.rate * (std::abs(static_cast<double>(constraint.to_time - middle)) +
                                    std::abs(static_cast<double>(constraint.from_time - middle)));
  }
  [[nodiscard]] std::uint64_t key(const ClockConstraint& constraint) const {
    return (std::uint64_t{constraint.from} * options_.clocks + constraint.to) * options_.windows +
           window_;
  }
  /// The best estimate of a node's true time, ticks after the first event.
  [[nodiscard]] double corrected(const match::Participant& member) const {
    const std::int64_t time = times_[member.node];
    return static_cast<double>(time - options_.begin) -
           error(options_.clock_of[member.location], time);
  }

  void add(NodeIndex send, LocationIndex from, NodeIndex receive, LocationIndex to,
           LatencyClass c) {
    ClockConstraint constraint;
    constraint.from = options_.clock_of[from];
    constraint.to = options_.clock_of[to];
    if (constraint.from == constraint.to) return;
    constraint.from_time = times_[send];
    constraint.to_time = times_[receive];
    constraint.slack =
        constraint.to_time - constraint.from_time - options_.mu[static_cast<std::size_t>(c)];
    add(constraint);
  }

  /// The latest (or earliest) participant of a side, and the latest one of another clock.
  struct Extremes {
    const match::Participant* first = nullptr;
    const match::Participant* other = nullptr;
    double first_time = 0, other_time = 0;
  };
  void take(Extremes& extremes, const match::Participant& member, double sign) const {
    const double time = sign * corrected(member);
    const auto clock = [&](const match::Participant* m) { return options_.clock_of[m->location]; };
    if (extremes.first == nullptr || time > extremes.first_time) {
      if (extremes.first != nullptr && clock(extremes.first) != clock(&member)) {
        extremes.other = extremes.first;
        extremes.other_time = extremes.first_time;
      }
      extremes.first = &member;
      extremes.first_time = time;
    } else if (clock(extremes.first) != clock(&member) &&
               (extremes.other == nullptr || time > extremes.other_time)) {
      extremes.other = &member;
      extremes.other_time = time;
    }
  }
  [[nodiscard]] const match::Participant* of_another_clock(const Extremes& extremes,
                                                           const match::Participant& member) const {
    if (extremes.first == nullptr) return nullptr;
    const bool own =
        options_.clock_of[extremes.first->location] == options_.clock_of[member.location];
    return own ? extremes.other : extremes.first;
  }

  void add(const match::Participant& send, const match::Participant& receive) {
    add(send.node, send.location, receive.node, receive.location,
        graph_.latency_class(send.location, receive.location));
  }

  void add(const match::Exchange& exchange) {
    const auto sends = graph_.sends(exchange);
    const auto receives = graph_.receives(exchange);
    Extremes latest;
    std::size_t added = 0;
    for (const match::Participant& receive : receives) {
      while (added < sends.size() && (!exchange.ordered || sends[added].order < receive.order)) {
        take(latest, sends[added++], 1);
      }
      if (const match::Participant* send = of_another_clock(latest, receive)) add(*send, receive);
    }
    Extremes earliest;
    std::size_t left = receives.size();
    for (std::size_t i = sends.size(); i-- > 0;) {
      while (left > 0 && (!exchange.ordered || receives[left - 1].order > sends[i].order)) {
        take(earliest, receives[--left], -1);
      }
      if (const match::Participant* receive = of_another_clock(earliest, sends[i]))
        add(sends[i], *receive);
    }
  }

  const match::Graph& graph_;
  const ConstraintOptions& options_;
  std::span<const std::int64_t> times_;
  std::int64_t width_ = 1;
  std::uint64_t window_ = 0;  ///< the present one
  std::int64_t window_begin_ = 0, window_end_ = 0;
  std::vector<Recent> recent_;  ///< per sending clock
  FlatMap<std::uint64_t, std::uint32_t, KeyHash> numbers_;
  std::vector<Known> known_;
};

}  // namespace

std::vector<ClockConstraint> collect_constraints(Team& team, const match::Graph& graph,
                                                 const ConstraintOptions& options) {
  const std::vector<match::Part> parts = match::parts_of(graph, options.threads);
  std::vector<Collector> of_parts(parts.size(), Collector(graph, options));
  match::for_parts(parts,
                   [&](const match::Part& part, std::size_t i) { of_parts[i].collect(part); });
  Collector& own = of_parts.front();
  for (std::size_t i = 1; i < of_parts.size(); ++i) own.add(of_parts[i]);
  std::vector<ClockConstraint> found = std::move(own).take();
  if (team.size() == 1) return found;
  // The constraints are few beside the trace: every member gets all of them, and fits alike.
  std::vector<std::vector<ClockConstraint>> parcels(team.size(), found);
  Collector all(graph, options);
  for (const auto& parcel : exchange(team, std::move(parcels))) {
    for (const ClockConstraint& constraint : parcel) all.add(constraint);
  }
  return std::move(all).take();
}

}  // namespace entrain::causal
