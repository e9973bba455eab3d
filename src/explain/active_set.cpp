// SPDX-License-Identifier: BSD-3-Clause
#include "explain/active_set.hpp"

#include <array>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/exact.hpp"

namespace entrain::explain {

namespace {

using difference::Event;
using difference::Exact;
using difference::k_tick;
using difference::Node;

/// Offsets of clocks between the nodes of a solution: on straight lines, and constant beyond the
/// first and the last node.
class Between {
 public:
  explicit Between(const ActiveSolution& solution)
      : system_(solution.system), values_(solution.values), at_(system_.clocks()) {
    for (std::uint32_t c = 0; c < at_.size(); ++c) at_[c] = system_.begin(c);
  }

  /// Rounded up or down.
  [[nodiscard]] Exact operator()(Event event, bool up) {
    const Node begin = system_.begin(event.clock), end = system_.end(event.clock);
    if (begin == end) return 0;
    Node& at = at_[event.clock];
    find(at, begin, end, event.stamp);
    const std::int64_t from = system_.stamp(at);
    if (event.stamp <= from || at + 1 == end) return values_[at];
    const std::int64_t length = system_.stamp(at + 1) - from, way = event.stamp - from;
    const Exact rise = values_[at + 1] - values_[at], rate = floor_div(rise, Exact{length});
    const Exact rest = (rise - rate * length) * way;
    return values_[at] + rate * way +
           (up ? ceil_div(rest, Exact{length}) : floor_div(rest, Exact{length}));
  }

 private:
  /// Moves to the last node of a clock that is not after a stamp, or to its first one. Stamps
  /// mostly follow each other closely.
  void find(Node& at, Node begin, Node end, std::int64_t stamp) const {
    constexpr int k_near = 8;
    for (int n = 0; n < k_near; ++n) {
      if (system_.stamp(at) > stamp && at > begin) {
        --at;
      } else if (at + 1 < end && system_.stamp(at + 1) <= stamp) {
        ++at;
      } else {
        return;
      }
    }
    while (begin + 1 < end) {
      const Node middle = begin + (end - begin) / 2;
      (system_.stamp(middle) <= stamp ? begin : end) = middle;
    }
    at = begin;
  }

  const difference::System& system_;
  const difference::Values& values_;
  std::vector<Node> at_;  ///< the node found last, per clock
};

/// A time of a member of an instance, of a part.
struct Shown {
  Exact time = -difference::k_unbounded;
  std::uint32_t part = 0xFFFFFFFF;
  Event event{};
};

/// A pair, and by how much it is met, rounded down; negative: it is violated.
struct Tight {
  Exact margin = difference::k_unbounded;
  ActiveSet::Pair pair{};
};

/// Leaves the tightest constraints, `most` of them.
void keep_tightest(std::vector<Tight>& all, std::size_t most) {
  if (all.size() <= most) return;
  const auto key = [](const Tight& one) { return std::tie(one.margin, one.pair); };
  std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(most), {}, key);
  all.resize(most);
}
/// Adds one, where only so many are wanted.
void add_tight(std::vector<Tight>& all, const Tight& one, std::size_t most) {
  all.push_back(one);
  if (all.size() >= 4 * most) keep_tightest(all, most);
}
/// Adds the pairs of the tightest constraints, `most` of them.
void activate(std::vector<Tight> tightest, std::size_t most, std::vector<ActiveSet::Pair>& pairs) {
  keep_tightest(tightest, most);
  for (const Tight& one : tightest) {
    if (one.margin < difference::k_unbounded) pairs.push_back(one.pair);
  }
  std::ranges::sort(pairs);
}

/// Calls use(tight) for an edge; for every end of an instance, with the latest begin of another
/// part. `offset(event, up)`: that of a part.
template <class Offset, class Use>
void for_each_pair(const difference::Constraints& constraints, std::uint32_t number,
                   const Parts& parts, Offset& offset, const Use& use) {
  const auto shown = [&](const Event& event, bool is_cause) {
    const Event of_part = parts(event);
    return Shown{offset(of_part, is_cause) + Exact{event.stamp} * k_tick, of_part.clock, event};
  };
  const auto take = [&](const Shown& cause, const Shown& effect, std::int64_t delay) {
    if (cause.part == effect.part || cause.part == Shown().part) return;
    const Exact margin = effect.time - cause.time - Exact{delay} * k_tick;
    use(Tight{margin, {{cause.event, effect.event, delay}, number}});
  };
  if (number < constraints.edges.size()) {
    const difference::Edge& edge = constraints.edges[number];
    return take(shown(edge.cause, true), shown(edge.effect, false), edge.delay);
  }
  const difference::Instance& instance = constraints.instances[number - constraints.edges.size()];
  std::array<Shown, 2> latest;  // of different parts
  for (const Event& member : instance.begins) {
    const Shown begin = shown(member, true);
    if (begin.time <= latest[1].time) continue;
    if (begin.part != latest[0].part) {
      latest[1] = begin;
      if (latest[1].time > latest[0].time) std::swap(latest[0], latest[1]);
    } else if (begin.time > latest[0].time) {
      latest[0] = begin;
    }
  }
  for (const Event& member : instance.ends) {
    const Shown end = shown(member, false);
    take(latest[latest[0].part == end.part ? 1 : 0], end, instance.delay);
  }
}

std::size_t count_of(const difference::Constraints& constraints) {
  return constraints.edges.size() + constraints.instances.size();
}

}  // namespace

ActiveSet::ActiveSet(const difference::Constraints& constraints, const Estimate& estimate,
                     std::size_t first)
    : constraints_(constraints), first_(first), size_(constraints.edges.size()) {
  for (const auto& one : constraints.instances) size_ += one.begins.size() + one.ends.size();
  has_all_ = !estimate || size_ <= first;
  if (has_all_) return;
  Parts whole(constraints.clocks.size());
  std::iota(whole.first.begin(), whole.first.end(), 0U);
  const auto offset = [&](Event event, bool) { return Exact{estimate(event)} * k_tick; };
  std::vector<Tight> tight;
  for (std::uint32_t n = 0; n < count_of(constraints); ++n) {
    Tight tightest;
    for_each_pair(constraints, n, whole, offset, [&](const Tight& one) {
      if (one.margin < tightest.margin) tightest = one;
    });
    add_tight(tight, tightest, first_);
  }
  activate(std::move(tight), first_, pairs_);
}

bool ActiveSet::add_violated(const ActiveSolution& solution,
                             const std::function<bool(std::uint32_t)>& is_left_out,
                             difference::Effort& effort) {
  if (has_all_) return false;
  effort.spent += size_;
  Between offset(solution);
  std::vector<Tight> violated;
  Exact least = 0;
  for (std::uint32_t n = 0; n < count_of(constraints_); ++n) {
    if (is_left_out(n)) continue;
    for_each_pair(constraints_, n, solution.parts, offset, [&](const Tight& one) {
      if (one.margin > -least || std::ranges::binary_search(pairs_, one.pair)) return;
      least = std::min(least, one.margin);
      add_tight(violated, one, first_);
    });
  }
  if (least == 0) return false;
  activate(std::move(violated), first_, pairs_);  // no more than at first
  return true;
}

const std::vector<std::int64_t>& ActiveSet::stamps(std::uint32_t clock) {
  if (stamps_.empty()) {
    stamps_.resize(constraints_.clocks.size());
    for_each_event(constraints_, [&](Event event) { stamps_[event.clock].push_back(event.stamp); });
    for (std::vector<std::int64_t>& own : stamps_) {
      std::ranges::sort(own);
      own.erase(std::unique(own.begin(), own.end()), own.end());
    }
  }
  return stamps_[clock];
}

}  // namespace entrain::explain
