// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/unreliable_ends.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/ids.hpp"
#include "formats/spans/approximate_offsets.hpp"

namespace entrain::spans {
namespace {

/// unreliable_ends_test.cpp holds these together; the values were chosen, not measured.
struct ReliabilityThresholds {
  static constexpr std::int64_t drift_divisor = 10'000;  ///< 100 ppm: most between two clocks
  static constexpr std::size_t latest_begins = 16;       ///< older ones are ignored: clocks are set
  static constexpr std::size_t neighbours = 8;  ///< edges on each side that may give support
  static constexpr int least_supporters = 3;    ///< violated neighbours, if none is a begin
};

/// An edge between two hosts as a constraint on the offset of one to the other.
struct Constraint {
  std::uint32_t low = 0, high = 0;  ///< the hosts, low < high
  bool upper = false;  ///< the offset to add to `high` is at most `offset`, else at least
  bool is_end = false;
  std::int64_t time = 0;    ///< ns, by the clock of `low`
  std::int64_t offset = 0;  ///< ns
  std::size_t edge = 0;     ///< position among the edges
};

Constraint constraint_of(const Edge& edge, std::size_t position) {
  const bool forward = edge.cause < edge.effect;
  const auto cause = static_cast<std::int64_t>(edge.cause_time);
  const auto effect = static_cast<std::int64_t>(edge.effect_time);
  return {.low = std::min(edge.cause, edge.effect),
          .high = std::max(edge.cause, edge.effect),
          .upper = !forward,
          .is_end = edge.is_end,
          .time = forward ? cause : effect,
          .offset = forward ? cause - effect : effect - cause,
          .edge = position};
}

/// Constraints of the latest begins; each widens by the drift.
class LatestBegins {
 public:
  void take(const Constraint& constraint) {
    if (latest_.size() < ReliabilityThresholds::latest_begins) {
      latest_.push_back(&constraint);
    } else {
      latest_[next_++ % ReliabilityThresholds::latest_begins] = &constraint;
    }
  }
  [[nodiscard]] bool contradicts(const Constraint& end) const {
    return std::any_of(latest_.begin(), latest_.end(), [&](const Constraint* begin) {
      if (begin->upper == end.upper) return false;
      const std::int64_t gap = end.upper ? begin->offset - end.offset : end.offset - begin->offset;
      return gap > std::abs(end.time - begin->time) / ReliabilityThresholds::drift_divisor + 1;
    });
  }

 private:
  std::vector<const Constraint*> latest_;
  std::size_t next_ = 0;
};

/// Rejects the ends that contradict begins before them; iterators go forward or backward in time.
template <class Iterator>
void reject_contradicted_in(Iterator begin, Iterator end, std::vector<Edge>& edges) {
  LatestBegins begins;
  for (Iterator at = begin; at != end; ++at) {
    if (!at->is_end) {
      begins.take(*at);
    } else if (begins.contradicts(*at)) {
      edges[at->edge].rejection = Rejection::contradicted;
    }
  }
}

void reject_contradicted(std::vector<Edge>& edges) {
  std::vector<Constraint> constraints;
  constraints.reserve(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    // Begins below the resolution are exact enough to contradict an end.
    if (edges[i].rejection == Rejection::none || !edges[i].is_end) {
      constraints.push_back(constraint_of(edges[i], i));
    }
  }
  std::sort(constraints.begin(), constraints.end(), [&](const Constraint& a, const Constraint& b) {
    return std::tuple(a.low, a.high, a.time, a.edge) < std::tuple(b.low, b.high, b.time, b.edge);
  });
  for (auto begin = constraints.begin(); begin != constraints.end();) {
    const auto end = std::find_if(begin, constraints.end(), [&](const Constraint& one) {
      return one.low != begin->low || one.high != begin->high;
    });
    reject_contradicted_in(begin, end, edges);
    reject_contradicted_in(std::reverse_iterator(end), std::reverse_iterator(begin), edges);
    begin = end;
  }
}

/// Rejects edges that are violated by less than the resolution of the effect's clock, if that is
/// the coarser one: truncated times are early by up to one step. Ends may be early by two, as a
/// client that did not wait may seem to have waited if both its times are truncated. Returns the
/// number of rejected edges.
std::uint64_t reject_unresolved(std::span<const std::uint64_t> steps, std::vector<Edge>& edges) {
  std::uint64_t rejected = 0;
  for (Edge& edge : edges) {
    const std::uint64_t step = steps[edge.effect];
    const bool is_violated = edge.effect_time < edge.cause_time;
    if (edge.rejection != Rejection::none || step <= steps[edge.cause] || !is_violated) continue;
    if (edge.cause_time - edge.effect_time >= (edge.is_end ? 2 * step : step)) continue;
    edge.rejection = Rejection::unresolved;
    ++rejected;
  }
  return rejected;
}

using Operations = std::map<std::uint32_t, DroppedEnds>;  ///< key: number

Operations ends_of_operations(const Spans& spans, std::span<const Edge> edges) {
  Operations operations;
  const auto is_judged = [](const Edge& edge) {
    return edge.is_end &&
           (edge.rejection == Rejection::none || edge.rejection == Rejection::contradicted);
  };
  for (const Edge& edge : edges) {
    if (!is_judged(edge)) continue;
    DroppedEnds& ends = operations[spans.all[edge.child].operation];
    ends.dropped += edge.rejection == Rejection::contradicted ? 1 : 0;
    ++ends.total;
  }
  return operations;
}

/// Rejects all ends of operations of which most are contradicted; returns the number of additional
/// ones.
std::uint64_t reject_asynchronous(const Spans& spans, const Operations& operations,
                                  std::vector<Edge>& edges) {
  std::uint64_t rejected = 0;
  for (Edge& edge : edges) {
    if (!edge.is_end || edge.rejection != Rejection::none) continue;
    const DroppedEnds& ends = operations.at(spans.all[edge.child].operation);
    if (2 * ends.dropped <= ends.total) continue;
    edge.rejection = Rejection::operation;
    ++rejected;
  }
  return rejected;
}

/// Operations with contradicted ends, the most first.
std::vector<DroppedEnds> contradicted_operations(const Spans& spans, const Operations& operations) {
  std::vector<DroppedEnds> contradicted;
  for (const auto& [operation, ends] : operations) {
    if (ends.dropped == 0) continue;
    contradicted.push_back(ends);
    contradicted.back().operation = spans.operations.all()[operation];
  }
  std::stable_sort(
      contradicted.begin(), contradicted.end(),
      [](const DroppedEnds& a, const DroppedEnds& b) { return a.dropped > b.dropped; });
  return contradicted;
}

/// Searches support for violated ends. Without any, the client may have timed out just before the
/// answer: such an end is violated by less than a message takes, as if a clock were wrong.
class SupportSearch {
 public:
  SupportSearch(std::span<const Edge> edges, std::size_t hosts)
      : edges_(edges), offsets_(edges, hosts), supported_(edges.size()) {
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (edges[i].rejection == Rejection::none) accepted_.push_back(i);
    }
  }

  /// Rejects the violated ends without support; returns their number.
  std::uint64_t reject(std::vector<Edge>& edges) {
    look([](const Edge& edge) { return std::pair(edge.cause, edge.effect); }, true);
    look([](const Edge& edge) { return std::pair(edge.cause, k_none); }, false);
    look([](const Edge& edge) { return std::pair(edge.effect, k_none); }, false);
    std::uint64_t rejected = 0;
    for (const std::size_t i : accepted_) {
      if (!needs_support(i)) continue;
      edges[i].rejection = Rejection::timed_out;
      ++rejected;
    }
    return rejected;
  }

 private:
  [[nodiscard]] std::int64_t violation(std::size_t i) const {
    return offsets_.violation_of(edges_[i]);
  }
  /// True for a violated end without support so far.
  [[nodiscard]] bool needs_support(std::size_t i) const {
    return edges_[i].is_end && !supported_[i] && violation(i) > 0;
  }

  /// Compares neighbours in time among edges of equal `key`, which have clocks in common: both if
  /// `one_pair`, else one.
  template <class Key>
  void look(const Key& key, bool one_pair) {
    std::sort(accepted_.begin(), accepted_.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(key(edges_[a]), edges_[a].cause_time, a) <
             std::tuple(key(edges_[b]), edges_[b].cause_time, b);
    });
    for (auto begin = accepted_.begin(); begin != accepted_.end();) {
      const auto end = std::find_if(begin, accepted_.end(), [&](std::size_t i) {
        return key(edges_[i]) != key(edges_[*begin]);
      });
      look_in({begin, end}, one_pair);
      begin = end;
    }
  }

  void look_in(std::span<const std::size_t> group, bool one_pair) {
    for (std::size_t k = 0; k < group.size(); ++k) {
      const std::size_t i = group[k];
      if (!needs_support(i)) continue;
      constexpr std::size_t k_neighbours = ReliabilityThresholds::neighbours;
      const std::size_t first = k > k_neighbours ? k - k_neighbours : 0;
      const std::size_t last = std::min(group.size(), k + k_neighbours + 1);
      supported_[i] = is_supported(i, group.subspan(first, last - first), one_pair);
    }
  }

  /// True if neighbours are violated by at least half as much: a begin of the same pair of hosts,
  /// or enough edges, and more than half of all.
  [[nodiscard]] bool is_supported(std::size_t edge, std::span<const std::size_t> near,
                                  bool one_pair) const {
    int violated = 0, kept = 0;
    bool has_begin = false;
    for (const std::size_t i : near) {
      const bool is_violated = 2 * violation(i) >= violation(edge);
      ++(is_violated ? violated : kept);
      has_begin = has_begin || (is_violated && !edges_[i].is_end);
    }
    return (one_pair && has_begin) ||
           (violated >= ReliabilityThresholds::least_supporters && violated > kept);
  }

  std::span<const Edge> edges_;
  ApproximateOffsets offsets_;
  std::vector<bool> supported_;
  std::vector<std::size_t> accepted_;  ///< positions of edges that are not rejected
};

}  // namespace

RejectedEnds mark_unreliable_ends(const Spans& spans, std::span<const std::uint64_t> steps,
                                  std::vector<Edge>& edges) {
  RejectedEnds rejected;
  rejected.unresolved = reject_unresolved(steps, edges);
  reject_contradicted(edges);
  const Operations operations = ends_of_operations(spans, edges);
  rejected.asynchronous = reject_asynchronous(spans, operations, edges);
  rejected.operations = contradicted_operations(spans, operations);
  for (const DroppedEnds& ends : rejected.operations) rejected.contradicted += ends.dropped;
  if (rejected.contradicted > 0)
    rejected.timed_out = SupportSearch(edges, steps.size()).reject(edges);
  return rejected;
}

}  // namespace entrain::spans
