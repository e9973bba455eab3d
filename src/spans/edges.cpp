// SPDX-License-Identifier: BSD-3-Clause
#include "spans/edges.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

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

/// What the begins before an instant allow at it: limits fade with the drift.
class Envelope {
 public:
  void fade_to(std::int64_t time) {
    const std::int64_t gone = (time > time_ ? time - time_ : time_ - time) / k_ticks_per_drift + 1;
    if (has_low_) low_ -= gone;
    if (has_high_) high_ += gone;
    time_ = time;
  }
  void take(const Limit& limit) {
    if (limit.upper) {
      high_ = has_high_ ? std::min(high_, limit.offset) : limit.offset;
      has_high_ = true;
    } else {
      low_ = has_low_ ? std::max(low_, limit.offset) : limit.offset;
      has_low_ = true;
    }
  }
  [[nodiscard]] bool contradicts(const Limit& limit) const {
    return limit.upper ? has_low_ && limit.offset < low_ : has_high_ && limit.offset > high_;
  }

 private:
  std::int64_t time_ = 0, low_ = 0, high_ = 0;
  bool has_low_ = false, has_high_ = false;
};

/// Walks over the limits of a pair of hosts, in order of time or against it.
template <class Iterator>
void drop_contradicted(Iterator begin, Iterator end, std::vector<Edge>& edges) {
  Envelope allowed;
  for (Iterator at = begin; at != end; ++at) {
    if (at == begin) allowed = Envelope();
    allowed.fade_to(at->time);
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

/// The step of the clock of each host: 1, 1,000 or 1,000,000 ns, as far as many stamps show it.
std::vector<std::uint64_t> steps_of(const Spans& spans, std::span<const std::uint32_t> hosts) {
  constexpr std::uint64_t k_enough = 8, k_us = 1'000, k_ms = 1'000'000;
  std::vector<std::uint64_t> count(hosts.size()), step(hosts.size(), k_ms);
  for (const Span& span : spans.all) {
    const std::uint32_t host = hosts[span.clock];
    ++count[host];
    for (const std::uint64_t time : {span.begin, span.end}) {
      while (time % step[host] != 0) step[host] /= k_us;
    }
  }
  for (std::size_t host = 0; host < count.size(); ++host) {
    if (2 * count[host] < k_enough) step[host] = spans.microseconds ? k_us : 1;
  }
  return step;
}

/// A clock that cuts its times more than another one seems early to it, by up to its step: drops
/// what is violated by no more. A client that did not wait may seem as if it had, if both its times
/// are cut: its end may seem early by two steps. Returns how many.
std::uint64_t drop_unresolved(const Spans& spans, std::span<const std::uint32_t> hosts,
                              std::vector<Edge>& edges) {
  const std::vector<std::uint64_t> steps = steps_of(spans, hosts);
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

/// Positions of spans by id: of a client's half and a server's half, who may share it.
struct Halves {
  std::uint32_t own = k_none;     ///< the first one that is not shared
  std::uint32_t shared = k_none;  ///< the server's half
};

class Finder {
 public:
  Finder(const Spans& spans, std::span<const std::uint32_t> hosts)
      : spans_(spans), hosts_(hosts), halves_(spans.ids.all().size()) {
    for (std::uint32_t i = 0; i < spans.all.size(); ++i) index(i);
  }

  std::vector<Edge> edges();
  std::uint64_t duplicates = 0, missing = 0, uncalled = 0, in_circles = 0, missing_links = 0;
  std::uint64_t endless = 0;  ///< clients without a length whose servers are there

 private:
  void index(std::uint32_t position);
  /// The span that called this one; k_none for none, or if it is not there.
  [[nodiscard]] std::uint32_t parent_of(std::uint32_t position) const;
  void find_circles();
  void add(std::uint32_t before, std::uint32_t after);

  const Spans& spans_;
  std::span<const std::uint32_t> hosts_;
  std::vector<Halves> halves_;
  std::vector<bool> left_out_, circular_;
  std::vector<Edge> edges_;
};

void Finder::index(std::uint32_t position) {
  const Span& span = spans_.all[position];
  Halves& halves = halves_[span.id];
  left_out_.push_back(false);
  // Old tracers share ids without saying so: what is a server's half is seen when both are there.
  bool is_shared = span.shared;
  if (!is_shared && halves.own != k_none && halves.shared == k_none) {
    const Role other = spans_.all[halves.own].role;
    is_shared = other == Role::client && span.role == Role::server;
    if (other == Role::server && span.role == Role::client) {
      halves = {.own = k_none, .shared = halves.own};
    }
  }
  std::uint32_t& place = is_shared ? halves.shared : halves.own;
  if (place == k_none) {
    place = position;
  } else {
    ++duplicates;
    left_out_.back() = true;
  }
}

std::uint32_t Finder::parent_of(std::uint32_t position) const {
  const Span& span = spans_.all[position];
  const Halves& own = halves_[span.id];
  if (own.shared == position && own.own != k_none) return own.own;
  if (span.parent == k_none) return k_none;
  const Halves& parent = halves_[span.parent];
  if (parent.shared == k_none || parent.own == k_none) return std::min(parent.shared, parent.own);
  // The server's half calls on; only what is on the client's host alone is of the client's half.
  const bool of_client =
      spans_.all[parent.own].clock == span.clock && spans_.all[parent.shared].clock != span.clock;
  return of_client ? parent.own : parent.shared;
}

/// Marks the spans that are their own ancestors: each is visited twice at most.
void Finder::find_circles() {
  circular_.assign(spans_.all.size(), false);
  std::vector<std::uint32_t> seen(spans_.all.size(), k_none);  // in the walk from which span
  for (std::uint32_t i = 0; i < spans_.all.size(); ++i) {
    std::uint32_t at = i;
    while (at != k_none && seen[at] == k_none) {
      seen[at] = i;
      at = parent_of(at);
    }
    if (at == k_none || seen[at] != i) continue;
    for (; !circular_[at]; at = parent_of(at)) {
      circular_[at] = true;
      ++in_circles;
    }
  }
}

void Finder::add(std::uint32_t before, std::uint32_t after) {
  const Span &cause = spans_.all[before], &effect = spans_.all[after];
  if (cause.clock == effect.clock) return;
  edges_.push_back({.cause = hosts_[cause.clock],
                    .effect = hosts_[effect.clock],
                    .cause_time = cause.begin,
                    .effect_time = effect.polls ? effect.end : effect.begin,
                    .is_end = false,
                    .child = after});
}

std::vector<Edge> Finder::edges() {
  find_circles();
  for (std::uint32_t i = 0; i < spans_.all.size(); ++i) {
    const Span& child = spans_.all[i];
    if (left_out_[i] || circular_[i]) continue;
    const std::uint32_t from = parent_of(i);
    if (from == k_none) {
      if (child.parent == k_none) continue;
      ++missing;
      uncalled += child.role == Role::server || child.role == Role::consumer ? 1 : 0;
      continue;
    }
    const Span& parent = spans_.all[from];
    add(from, i);
    const bool waits = parent.role == Role::client && child.role == Role::server;
    if (!waits || parent.clock == child.clock) continue;
    // No call of another host takes no time: the length was not known when the span was written.
    const bool has_end = parent.end > parent.begin;
    edges_.push_back({.cause = hosts_[child.clock],
                      .effect = hosts_[parent.clock],
                      .cause_time = child.end,
                      .effect_time = parent.end,
                      .is_end = true,
                      .child = i,
                      .doubt = has_end ? Doubt::none : Doubt::no_length});
    endless += has_end ? 0 : 1;
  }
  for (const Link& link : spans_.links) {
    const Halves& halves = halves_[link.id];
    const std::uint32_t before = halves.own != k_none ? halves.own : halves.shared;
    if (before == k_none) {
      ++missing_links;
    } else if (before != link.span && !left_out_[link.span]) {
      add(before, static_cast<std::uint32_t>(link.span));
    }
  }
  return std::move(edges_);
}

void make_clocks(const Spans& spans, SpanEdges& result) {
  result.hosts.assign(spans.clocks.all().size(), k_none);
  std::vector<Clock>& clocks = result.clocks.clocks;
  for (const Span& span : spans.all) {
    std::uint32_t& host = result.hosts[span.clock];
    if (host == k_none) {
      host = static_cast<std::uint32_t>(clocks.size());
      clocks.push_back({.name = spans.clocks.all()[span.clock],
                        .kind = "wall",
                        .events = StampRange{span.begin, span.end},
                        .granule = spans.microseconds ? 1000U : 0U});
    }
    StampRange& range = *clocks[host].events;
    range = {std::min(range.first, span.begin), std::max(range.last, span.end)};
  }
}

/// Ends per operation. Drops all of those of which most are contradicted; returns how many more
/// these are.
std::uint64_t judge_operations(const Spans& spans, std::vector<Edge>& edges,
                               std::vector<DroppedEnds>& contradicted) {
  std::map<std::uint32_t, DroppedEnds> operations;
  const auto is_judged = [](const Edge& edge) {
    return edge.is_end && (edge.doubt == Doubt::none || edge.doubt == Doubt::contradicted);
  };
  for (const Edge& edge : edges) {
    if (!is_judged(edge)) continue;
    DroppedEnds& ends = operations[spans.all[edge.child].operation];
    ends.dropped += edge.doubt == Doubt::contradicted ? 1 : 0;
    ++ends.of;
  }
  std::uint64_t doubted = 0;
  for (Edge& edge : edges) {
    if (!edge.is_end || edge.doubt != Doubt::none) continue;
    const DroppedEnds& ends = operations[spans.all[edge.child].operation];
    if (2 * ends.dropped <= ends.of) continue;
    edge.doubt = Doubt::operation;
    ++doubted;
  }
  for (auto& [operation, ends] : operations) {
    if (ends.dropped == 0) continue;
    ends.operation = spans.operations.all()[operation];
    contradicted.push_back(std::move(ends));
  }
  std::stable_sort(
      contradicted.begin(), contradicted.end(),
      [](const DroppedEnds& a, const DroppedEnds& b) { return a.dropped > b.dropped; });
  return doubted;
}

}  // namespace

edges::EdgeList list_of(std::span<const Edge> edges) {
  edges::EdgeList list;
  for (const Edge& edge : edges) {
    if (edge.doubt != Doubt::none) continue;
    list.cause_clock.push_back(edge.cause);
    list.effect_clock.push_back(edge.effect);
    list.cause_time.push_back(edge.cause_time);
    list.effect_time.push_back(edge.effect_time);
  }
  return list;
}

SpanEdges edges_of(const Spans& spans) {
  SpanEdges result;
  make_clocks(spans, result);
  Finder finder(spans, result.hosts);
  result.found = finder.edges();
  result.without_parent = finder.uncalled;
  const std::uint64_t unresolved = drop_unresolved(spans, result.hosts, result.found);
  drop_ends(result.found);
  const std::uint64_t doubted = judge_operations(spans, result.found, result.dropped);
  std::uint64_t dropped = 0;
  for (const DroppedEnds& ends : result.dropped) dropped += ends.dropped;
  const auto count = [&](const char* name, std::uint64_t number) {
    if (number > 0) result.counters.emplace_back(name, number);
  };
  count("truncated_files", spans.cut_files);
  count("spans_without_id", spans.without_id);
  count("spans_without_time", spans.without_time);
  count("spans_that_end_before_they_begin", spans.backwards);
  count("duplicate_spans", finder.duplicates);
  count("spans_without_their_parent", finder.missing);
  count("spans_in_circles_of_parents", finder.in_circles);
  count("links_without_their_span", finder.missing_links);
  count("edges_below_the_resolution", unresolved);
  count("calls_without_a_length", finder.endless);
  count("contradicted_ends", dropped);
  count("ends_nobody_waits_for", doubted);
  return result;
}

}  // namespace entrain::spans
