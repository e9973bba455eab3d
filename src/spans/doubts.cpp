// SPDX-License-Identifier: BSD-3-Clause
#include "spans/doubts.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/ids.hpp"
#include "spans/rough_offsets.hpp"

namespace entrain::spans {
namespace {

/// Two clocks part by at most a tick in this many.
constexpr std::int64_t k_ticks_per_drift = 10'000;

/// An edge between two hosts as a limit on the offset of one to the other.
struct Limit {
  std::uint32_t low = 0, high = 0;  ///< the hosts, low < high
  bool upper = false;  ///< the offset added to `high` is at most `offset`, else at least
  bool is_end = false;
  std::int64_t time = 0;  ///< about when, ns
  std::int64_t offset = 0;
  std::size_t edge = 0;  ///< position in Found
};

Limit limit_of(const Edge& edge, std::size_t position) {
  const bool forward = edge.cause < edge.effect;
  const auto cause = static_cast<std::int64_t>(edge.cause_time);
  const auto effect = static_cast<std::int64_t>(edge.effect_time);
  return {.low = std::min(edge.cause, edge.effect),
          .high = std::max(edge.cause, edge.effect),
          .upper = !forward,
          .is_end = edge.is_end,
          .time = forward ? cause : effect,  // of `low`
          .offset = forward ? cause - effect : effect - cause,
          .edge = position};
}

/// What the latest begins before an instant allow at it: limits fade with the drift. Older ones say
/// nothing: the clock may have been set meanwhile.
class Envelope {
 public:
  void take(const Limit& limit) {
    if (latest_.size() < k_latest) {
      latest_.push_back(&limit);
    } else {
      latest_[next_++ % k_latest] = &limit;
    }
  }
  [[nodiscard]] bool contradicts(const Limit& end) const {
    return std::any_of(latest_.begin(), latest_.end(), [&](const Limit* begin) {
      if (begin->upper == end.upper) return false;
      const std::int64_t gap = end.upper ? begin->offset - end.offset : end.offset - begin->offset;
      return gap > std::abs(end.time - begin->time) / k_ticks_per_drift + 1;
    });
  }

 private:
  static constexpr std::size_t k_latest = 16;
  std::vector<const Limit*> latest_;
  std::size_t next_ = 0;
};

/// Walks over the limits of a pair of hosts, in order of time or against it.
template <class Iterator>
void drop_contradicted(Iterator begin, Iterator end, std::vector<Edge>& edges) {
  Envelope allowed;
  for (Iterator at = begin; at != end; ++at) {
    if (!at->is_end) {
      allowed.take(*at);
    } else if (allowed.contradicts(*at)) {
      edges[at->edge].doubt = Doubt::contradicted;
    }
  }
}

void drop_ends(std::vector<Edge>& edges) {
  std::vector<Limit> limits;
  limits.reserve(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    // A begin that a coarse clock cut says enough to doubt an end.
    if (edges[i].doubt == Doubt::none || !edges[i].is_end) limits.push_back(limit_of(edges[i], i));
  }
  const auto pair_of = [](const Limit& limit) { return std::pair(limit.low, limit.high); };
  std::sort(limits.begin(), limits.end(), [&](const Limit& a, const Limit& b) {
    return std::tuple(a.low, a.high, a.time, a.edge) < std::tuple(b.low, b.high, b.time, b.edge);
  });
  for (auto begin = limits.begin(); begin != limits.end();) {
    const auto end = std::find_if(
        begin, limits.end(), [&](const Limit& limit) { return pair_of(limit) != pair_of(*begin); });
    drop_contradicted(begin, end, edges);
    drop_contradicted(std::reverse_iterator(end), std::reverse_iterator(begin), edges);
    begin = end;
  }
}

/// A clock that cuts its times more than another one seems early to it, by up to its step: drops
/// what is violated by no more. A client that did not wait may seem as if it had, if both its times
/// are cut: its end may seem early by two steps. Returns how many.
std::uint64_t drop_unresolved(std::span<const std::uint64_t> steps, std::vector<Edge>& edges) {
  std::uint64_t dropped = 0;
  for (Edge& edge : edges) {
    const std::uint64_t step = steps[edge.effect];
    const bool is_violated = edge.effect_time < edge.cause_time;
    if (edge.doubt != Doubt::none || step <= steps[edge.cause] || !is_violated) continue;
    if (edge.cause_time - edge.effect_time >= (edge.is_end ? 2 * step : step)) continue;
    edge.doubt = Doubt::unresolved;
    ++dropped;
  }
  return dropped;
}

using Operations = std::map<std::uint32_t, DroppedEnds>;  ///< by number

Operations ends_of_operations(const Spans& spans, std::span<const Edge> edges) {
  Operations operations;
  const auto is_judged = [](const Edge& edge) {
    return edge.is_end && (edge.doubt == Doubt::none || edge.doubt == Doubt::contradicted);
  };
  for (const Edge& edge : edges) {
    if (!is_judged(edge)) continue;
    DroppedEnds& ends = operations[spans.all[edge.child].operation];
    ends.dropped += edge.doubt == Doubt::contradicted ? 1 : 0;
    ++ends.of;
  }
  return operations;
}

/// Drops all ends of an operation of which most are contradicted; returns how many more these are.
std::uint64_t drop_operations(const Spans& spans, const Operations& operations,
                              std::vector<Edge>& edges) {
  std::uint64_t doubted = 0;
  for (Edge& edge : edges) {
    if (!edge.is_end || edge.doubt != Doubt::none) continue;
    const DroppedEnds& ends = operations.at(spans.all[edge.child].operation);
    if (2 * ends.dropped <= ends.of) continue;
    edge.doubt = Doubt::operation;
    ++doubted;
  }
  return doubted;
}

/// Those with contradicted ends, the most first.
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

/// Looks for what supports violated ends of which the client may have given up just before the
/// answer: such an end seems violated by less than a message needs, as if a clock were wrong.
class Support {
 public:
  Support(std::span<const Edge> edges, std::size_t hosts)
      : edges_(edges), rough_(edges, hosts), supported_(edges.size()) {
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (edges[i].doubt == Doubt::none) believed_.push_back(i);
    }
  }

  /// Drops the ends without support; returns how many.
  std::uint64_t drop(std::vector<Edge>& edges) {
    look([](const Edge& edge) { return std::pair(edge.cause, edge.effect); }, true);
    look([](const Edge& edge) { return std::pair(edge.cause, k_none); }, false);
    look([](const Edge& edge) { return std::pair(edge.effect, k_none); }, false);
    std::uint64_t dropped = 0;
    for (const std::size_t i : believed_) {
      if (!is_open(i)) continue;
      edges[i].doubt = Doubt::given_up;
      ++dropped;
    }
    return dropped;
  }

 private:
  static constexpr std::size_t k_neighbours = 8;  ///< on each side
  static constexpr int k_least = 3;

  [[nodiscard]] std::int64_t violation(std::size_t i) const {
    return rough_.violation_of(edges_[i]);
  }
  /// A violated end that nothing supports yet.
  [[nodiscard]] bool is_open(std::size_t i) const {
    return edges_[i].is_end && !supported_[i] && violation(i) > 0;
  }

  /// `key`: edges of equal ones are about the same clocks; `one_pair`: of two, not of one and all.
  template <class Key>
  void look(const Key& key, bool one_pair) {
    std::sort(believed_.begin(), believed_.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(key(edges_[a]), edges_[a].cause_time, a) <
             std::tuple(key(edges_[b]), edges_[b].cause_time, b);
    });
    for (auto begin = believed_.begin(); begin != believed_.end();) {
      const auto end = std::find_if(begin, believed_.end(), [&](std::size_t i) {
        return key(edges_[i]) != key(edges_[*begin]);
      });
      look_in({begin, end}, one_pair);
      begin = end;
    }
  }

  void look_in(std::span<const std::size_t> group, bool one_pair) {
    for (std::size_t k = 0; k < group.size(); ++k) {
      const std::size_t i = group[k];
      if (!is_open(i)) continue;
      const std::size_t first = k > k_neighbours ? k - k_neighbours : 0;
      const std::size_t last = std::min(group.size(), k + k_neighbours + 1);
      supported_[i] = is_supported(i, group.subspan(first, last - first), one_pair);
    }
  }

  /// Neighbours count as violated if they are so by half as much or more.
  [[nodiscard]] bool is_supported(std::size_t edge, std::span<const std::size_t> near,
                                  bool one_pair) const {
    int violated = 0, kept = 0;
    bool sure = false;
    for (const std::size_t i : near) {
      const bool alike = 2 * violation(i) >= violation(edge);
      ++(alike ? violated : kept);
      sure = sure || (alike && !edges_[i].is_end);
    }
    return (one_pair && sure) || (violated >= k_least && violated > kept);
  }

  std::span<const Edge> edges_;
  RoughOffsets rough_;
  std::vector<bool> supported_;
  std::vector<std::size_t> believed_;  ///< edges without a doubt
};

}  // namespace

EndDoubts doubt_ends(const Spans& spans, std::span<const std::uint64_t> steps,
                     std::vector<Edge>& edges) {
  EndDoubts doubts;
  doubts.unresolved = drop_unresolved(steps, edges);
  drop_ends(edges);
  const Operations operations = ends_of_operations(spans, edges);
  doubts.nobody_waits = drop_operations(spans, operations, edges);
  doubts.operations = contradicted_operations(spans, operations);
  for (const DroppedEnds& ends : doubts.operations) doubts.contradicted += ends.dropped;
  if (doubts.contradicted > 0) doubts.given_up = Support(edges, steps.size()).drop(edges);
  return doubts;
}

}  // namespace entrain::spans
