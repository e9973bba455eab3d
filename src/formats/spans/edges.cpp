// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/edges.hpp"

#include <algorithm>

#include "formats/spans/unreliable_ends.hpp"

namespace entrain::spans {
namespace {

/// Positions of the spans of one id, which a client's and a server's half may share.
struct Halves {
  std::uint32_t own = k_none;     ///< the first one that is not shared
  std::uint32_t shared = k_none;  ///< the server's half
};

class EdgeFinder {
 public:
  EdgeFinder(const Spans& spans, std::span<const std::uint32_t> hosts)
      : spans_(spans),
        hosts_(hosts),
        unknown_host_(spans.clocks.find(k_unknown_host)),
        halves_(spans.ids.all().size()) {
    for (std::uint32_t i = 0; i < spans.all.size(); ++i) index(i);
  }

  std::vector<Edge> edges();
  std::uint64_t without_host = 0;  ///< calls between a known and an unknown host
  std::uint64_t duplicates = 0, missing = 0, uncalled = 0, in_circles = 0, missing_links = 0;
  std::uint64_t endless = 0;  ///< clients without a length whose servers are known

 private:
  void index(std::uint32_t position);
  /// The span that called this one; k_none for a root, or if it is missing.
  [[nodiscard]] std::uint32_t parent_of(std::uint32_t position) const;
  void find_circles();
  void add(std::uint32_t before, std::uint32_t after, bool is_link);
  /// True if the spans are of two clocks, both known.
  [[nodiscard]] bool are_apart(const Span& a, const Span& b) const {
    return a.clock != b.clock && a.clock != unknown_host_ && b.clock != unknown_host_;
  }

  const Spans& spans_;
  std::span<const std::uint32_t> hosts_;
  std::uint32_t unknown_host_;
  std::vector<Halves> halves_;
  std::vector<bool> ignored_, circular_;
  std::vector<Edge> edges_;
};

void EdgeFinder::index(std::uint32_t position) {
  const Span& span = spans_.all[position];
  Halves& halves = halves_[span.id];
  ignored_.push_back(false);
  // Old tracers do not mark shared ids: the server's half is known once both halves are there.
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
    ignored_.back() = true;
  }
}

std::uint32_t EdgeFinder::parent_of(std::uint32_t position) const {
  const Span& span = spans_.all[position];
  const Halves& own = halves_[span.id];
  if (own.shared == position && own.own != k_none) return own.own;
  if (span.parent == k_none) return k_none;
  const Halves& parent = halves_[span.parent];
  if (parent.shared == k_none || parent.own == k_none) return std::min(parent.shared, parent.own);
  // A span of the client's host only is a child of the client's half, others of the server's half.
  const bool of_client =
      spans_.all[parent.own].clock == span.clock && spans_.all[parent.shared].clock != span.clock;
  return of_client ? parent.own : parent.shared;
}

/// Marks the spans that are their own ancestors. Visits each at most twice.
void EdgeFinder::find_circles() {
  circular_.assign(spans_.all.size(), false);
  std::vector<std::uint32_t> seen(spans_.all.size(), k_none);  // span at which the walk began
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

void EdgeFinder::add(std::uint32_t before, std::uint32_t after, bool is_link) {
  const Span &cause = spans_.all[before], &effect = spans_.all[after];
  if (!are_apart(cause, effect)) return;
  edges_.push_back({.cause = hosts_[cause.clock],
                    .effect = hosts_[effect.clock],
                    .cause_time = cause.begin,
                    .effect_time = effect.polls ? effect.end : effect.begin,
                    .is_end = false,
                    .is_link = is_link,
                    .child = after});
}

std::vector<Edge> EdgeFinder::edges() {
  find_circles();
  for (std::uint32_t i = 0; i < spans_.all.size(); ++i) {
    const Span& child = spans_.all[i];
    if (ignored_[i] || circular_[i]) continue;
    const std::uint32_t from = parent_of(i);
    if (from == k_none) {
      if (child.parent == k_none) continue;
      ++missing;
      uncalled += child.role == Role::server || child.role == Role::consumer ? 1 : 0;
      continue;
    }
    const Span& parent = spans_.all[from];
    if (parent.clock == child.clock) continue;
    if (!are_apart(parent, child)) {
      ++without_host;
      continue;
    }
    add(from, i, false);
    const bool waits = parent.role == Role::client && child.role == Role::server;
    if (!waits) continue;
    // A call of another host takes time: the client did not know its length.
    const bool has_end = parent.end > parent.begin;
    edges_.push_back({.cause = hosts_[child.clock],
                      .effect = hosts_[parent.clock],
                      .cause_time = child.end,
                      .effect_time = parent.end,
                      .is_end = true,
                      .child = i,
                      .rejection = has_end ? Rejection::none : Rejection::no_length});
    endless += has_end ? 0 : 1;
  }
  for (const Link& link : spans_.links) {
    const Halves& halves = halves_[link.id];
    const std::uint32_t before = halves.own != k_none ? halves.own : halves.shared;
    if (before == k_none) {
      ++missing_links;
    } else if (before != link.span && !ignored_[link.span]) {
      add(before, static_cast<std::uint32_t>(link.span), true);
    }
  }
  return std::move(edges_);
}

/// Resolution of the clock of each host, by its stamps: 1, 1,000 or 1,000,000 ns.
std::vector<std::uint64_t> steps_of(const Spans& spans, std::span<const std::uint32_t> hosts) {
  constexpr std::uint64_t k_least_stamps = 8, k_us = 1'000, k_ms = 1'000'000;
  std::vector<std::uint64_t> count(hosts.size()), step(hosts.size(), k_ms);
  for (const Span& span : spans.all) {
    const std::uint32_t host = hosts[span.clock];
    ++count[host];
    for (const std::uint64_t time : {span.begin, span.end}) {
      while (time % step[host] != 0) step[host] /= k_us;
    }
  }
  for (std::size_t host = 0; host < count.size(); ++host) {
    if (2 * count[host] < k_least_stamps) step[host] = spans.microseconds ? k_us : 1;
  }
  return step;
}

void make_clocks(const Spans& spans, SpanEdges& result) {
  result.hosts.assign(spans.clocks.all().size(), k_none);
  std::vector<Clock>& clocks = result.clocks.clocks;
  for (const Span& span : spans.all) {
    std::uint32_t& host = result.hosts[span.clock];
    if (host == k_none) {
      host = static_cast<std::uint32_t>(clocks.size());
      clocks.push_back({.name = spans.clocks.all()[span.clock],
                        .kind = ClockKind::wall,
                        .events = StampRange{span.begin, span.end},
                        .granule = spans.microseconds ? 1000U : 0U});
    }
    StampRange& range = *clocks[host].events;
    range = {std::min(range.first, span.begin), std::max(range.last, span.end)};
  }
}

}  // namespace

tables::EdgeList list_of(std::span<const Edge> edges) {
  tables::EdgeList list;
  for (const Edge& edge : edges) {
    if (edge.rejection != Rejection::none) continue;
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
  EdgeFinder finder(spans, result.hosts);
  result.found = finder.edges();
  result.without_parent = finder.uncalled;
  const std::vector<std::uint64_t> steps = steps_of(spans, result.hosts);
  const RejectedEnds rejected = mark_unreliable_ends(spans, steps, result.found);
  const auto count = [&](const char* name, std::uint64_t number) {
    if (number > 0) result.counters.emplace_back(name, number);
  };
  count("truncated_files", spans.cut_files);
  count("spans_without_id", spans.without_id);
  count("spans_without_time", spans.without_time);
  count("times_that_stay", spans.immovable_times);
  count("spans_that_end_before_they_begin", spans.backwards);
  count("duplicate_spans", finder.duplicates);
  count("spans_without_their_parent", finder.missing);
  count("spans_in_circles_of_parents", finder.in_circles);
  count("links_without_their_span", finder.missing_links);
  count("calls_without_a_host", finder.without_host);
  count("edges_below_the_resolution", rejected.unresolved);
  count("calls_without_a_length", finder.endless);
  count("contradicted_ends", rejected.contradicted);
  count("ends_nobody_waits_for", rejected.asynchronous);
  count("ends_perhaps_given_up", rejected.timed_out);
  result.dropped = rejected.operations;
  return result;
}

}  // namespace entrain::spans
