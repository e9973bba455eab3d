// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/edges.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/counters.hpp"

namespace entrain::spans {
namespace {

/// True if a link between them says which one is earlier.
bool consumes(const Span& linked, const Span& linking) {
  if (linking.polls || linking.role == Role::consumer) return linked.role != Role::consumer;
  const bool is_request = linked.role == Role::producer || linked.role == Role::client;
  return linking.role == Role::server && is_request;
}

/// Adds the edges, and counts what gives none.
class EdgeFinder {
 public:
  EdgeFinder(const Spans& spans, const Family& family, const Identity& identity)
      : spans_(spans),
        family_(family),
        identity_(identity),
        unknown_group_(spans.groups.find(k_unknown_host)) {}

  BigVector<Edge> edges() {
    std::size_t calls = 0;  // between clocks; each gives two edges at most
    for (std::uint32_t i = 0; i < spans_.all.size(); ++i) {
      const std::uint32_t from = family_.parent_of(i);
      calls += from != k_none && spans_.all[from].host != spans_.all[i].host ? 1 : 0;
    }
    edges_.reserve(2 * calls);
    for (std::uint32_t i = 0; i < spans_.all.size(); ++i) {
      if (family_.is_ignored(i)) continue;
      const std::uint32_t from = family_.parent_of(i);
      if (from != k_none) {
        add_call(from, i);
      } else if (spans_.all[i].parent != k_none) {
        const Role role = spans_.all[i].role;
        ++missing;
        uncalled += role == Role::server || role == Role::consumer ? 1 : 0;
      }
    }
    for (const Link& link : spans_.links) add_link(link);
    return std::move(edges_);
  }

  std::uint64_t without_host = 0;  ///< calls between a known and an unknown host
  std::uint64_t missing = 0, uncalled = 0, missing_links = 0, related = 0;
  std::uint64_t endless = 0;  ///< clients without a length whose servers are known
  std::uint64_t aside = 0;    ///< calls to or from times that are no evidence
  std::uint64_t early = 0;    ///< children of the same clock that begin before their parent

 private:
  void add_call(std::uint32_t from, std::uint32_t to) {
    const Span &parent = spans_.all[from], &child = spans_.all[to];
    if (parent.host == child.host) {
      early += child.begin < parent.begin ? 1 : 0;
    } else if (is_unknown(parent) || is_unknown(child)) {
      ++without_host;
    } else if (is_aside(parent, child)) {
      ++aside;
    } else {
      add_begin(from, to, false);
      const bool is_call = parent.role == Role::client && child.role == Role::server;
      if (!is_call || child.follows) return;
      // A call of another host takes time: the client did not know its length.
      const bool has_end = parent.end > parent.begin;
      edges_.push_back({.cause = child.host,
                        .effect = parent.host,
                        .cause_time = child.end,
                        .effect_time = parent.end,
                        .is_end = true,
                        .child = to,
                        .parent = from,
                        .rejection = has_end ? Rejection::none : Rejection::no_length});
      endless += has_end ? 0 : 1;
    }
  }

  void add_link(const Link& link) {
    const std::uint32_t before = family_.span_of(link.id);
    const auto after = static_cast<std::uint32_t>(link.span);
    if (before == k_none) {
      ++missing_links;
      return;
    }
    const Span &linked = spans_.all[before], &linking = spans_.all[after];
    if (family_.is_ignored(after) || linked.host == linking.host || is_unknown(linked) ||
        is_unknown(linking) || is_aside(linked, linking)) {
      return;
    }
    if (link.is_cause || consumes(linked, linking)) {
      add_begin(before, after, true);
    } else {
      ++related;
    }
  }

  void add_begin(std::uint32_t before, std::uint32_t after, bool is_link) {
    const Span &cause = spans_.all[before], &effect = spans_.all[after];
    edges_.push_back({.cause = cause.host,
                      .effect = effect.host,
                      .cause_time = cause.begin,
                      .effect_time = effect.polls ? effect.end : effect.begin,
                      .is_link = is_link,
                      .child = after,
                      .parent = before});
  }

  [[nodiscard]] bool is_unknown(const Span& span) const {
    return spans_.group_of(span) == unknown_group_;
  }
  [[nodiscard]] bool is_aside(const Span& a, const Span& b) const {
    return identity_.aside[a.host] || identity_.aside[b.host] ||
           identity_.several.contains(std::minmax(a.host, b.host));
  }

  const Spans& spans_;
  const Family& family_;
  const Identity& identity_;
  std::uint32_t unknown_group_;
  BigVector<Edge> edges_;
};

/// Drops the links between clocks that calls tie, which say more. Returns their number.
std::uint64_t drop_links(BigVector<Edge>& edges) {
  if (edges.empty() || !edges.back().is_link) return 0;
  std::set<std::pair<std::uint32_t, std::uint32_t>> called;
  for (const Edge& edge : edges) {
    if (!edge.is_link) called.insert(std::minmax(edge.cause, edge.effect));
  }
  return std::erase_if(edges, [&](const Edge& edge) {
    return edge.is_link && called.contains(std::minmax(edge.cause, edge.effect));
  });
}

constexpr std::uint64_t k_fine = 1000;  ///< us, which are the unit of times in Jaeger and Zipkin

/// Steps that are no resolution count as what stamps show: where a timer starts calls, begins are
/// as far apart, but the times from causes to effects do not differ by parts of a step. Of uniform
/// parts half lie within half a step; no less than a quarter is required, of 16 edges or more.
void keep_resolutions(const BigVector<Edge>& edges, Steps& steps) {
  constexpr std::size_t k_least = 16, k_quarter = 4;
  const auto step_of = [&](std::uint32_t clock) {
    return std::max(steps.of_begins[clock], steps.of_ends[clock]);
  };
  std::map<std::uint32_t, std::vector<std::int64_t>> slacks;  // by clock
  for (const Edge& edge : edges) {
    const std::uint64_t step = step_of(edge.effect);
    const bool may_be_timer = steps.of_begins[edge.effect] > steps.shown_in_begins[edge.effect] ||
                              steps.of_ends[edge.effect] > steps.shown_in_ends[edge.effect];
    if (edge.is_link || step <= k_fine || !may_be_timer) continue;
    if (k_quarter * step_of(edge.cause) > step) continue;
    slacks[edge.effect].push_back(static_cast<std::int64_t>(edge.effect_time - edge.cause_time));
  }
  for (auto& [clock, all] : slacks) {
    if (all.size() < k_least) continue;
    std::ranges::sort(all);
    const std::int64_t spread =
        all[all.size() - 1 - all.size() / k_quarter] - all[all.size() / k_quarter];
    if (static_cast<std::uint64_t>(spread) * k_quarter >= step_of(clock)) continue;
    const auto keep = [c = clock](std::vector<std::uint64_t>& of, std::uint64_t shown) {
      of[c] = std::min(of[c], std::max(shown, k_fine));
    };
    keep(steps.of_begins, steps.shown_in_begins[clock]);
    keep(steps.of_ends, steps.shown_in_ends[clock]);
  }
}

/// Moves effects to the ends of coarse steps, and of those that are coarser than the cause's.
/// Returns the number of edges that this explains.
std::uint64_t take_steps(const Spans& spans, const Steps& steps, BigVector<Edge>& edges) {
  const auto coarser = [&](std::uint32_t clock) {
    return std::max(steps.of_begins[clock], steps.of_ends[clock]);
  };
  std::uint64_t explained = 0;
  for (Edge& edge : edges) {
    const std::uint64_t begin = steps.of_begins[edge.effect], end = steps.of_ends[edge.effect];
    const bool is_end = edge.is_end || spans.all[edge.child].polls;
    const bool is_fine = begin <= k_fine && (end <= k_fine || !is_end);
    if (is_fine && coarser(edge.effect) <= coarser(edge.cause)) continue;
    const bool was_violated = edge.effect_time < edge.cause_time;
    edge.step = begin - 1 + (is_end ? end - 1 : 0);
    edge.effect_time += edge.step;
    explained += was_violated && edge.effect_time >= edge.cause_time ? 1 : 0;
  }
  return explained;
}

std::vector<std::string> notes_of(const Steps& steps, const Clocks& clocks) {
  std::map<std::uint64_t, std::vector<std::string>> clocks_of;
  for (std::size_t c = 0; c < clocks.clocks.size(); ++c) {
    const std::uint64_t step = std::max(steps.of_begins[c], steps.of_ends[c]);
    if (step > 1000) clocks_of[step].push_back(clocks.clocks[c].name);
  }
  std::vector<std::string> notes;
  tables::note_steps(clocks_of, clocks.resolution_hz, notes);
  return notes;
}

}  // namespace

EdgeList list_of(std::span<const Edge> edges) {
  EdgeList list;
  for (const Edge& edge : edges) {
    if (edge.rejection != Rejection::none) continue;
    list.add({edge.cause, edge.cause_time}, {edge.effect, edge.effect_time});
  }
  return list;
}

SpanEdges edges_of(const Spans& spans, const Family& family, const Identity& identity,
                   const Steps* known) {
  SpanEdges result;
  EdgeFinder finder(spans, family, identity);
  result.found = finder.edges();
  result.without_parent = finder.uncalled;
  const std::uint64_t beside_calls = drop_links(result.found);
  if (known != nullptr) {
    result.steps = *known;
  } else {
    result.steps = learn_steps(spans, identity.clocks.clocks.size(),
                               [](const Span& span) { return span.host; });
    keep_resolutions(result.found, result.steps);
  }
  const std::uint64_t unresolved = take_steps(spans, result.steps, result.found);
  if (unresolved > 0) result.notes = notes_of(result.steps, identity.clocks);
  result.rejected = mark_unreliable_ends(spans, identity.clocks.clocks.size(), result.found);
  const auto backwards =
      static_cast<std::uint64_t>(std::ranges::count(spans.untimed, true, &Untimed::is_backwards));
  result.counters = nonzero({
      {"truncated_files", spans.cut_files},
      {"spans_without_id", spans.without_id},
      {"spans_without_time", spans.untimed.size() - backwards},
      {"spans_without_a_length", spans.without_end},
      {"times_that_stay", spans.immovable_times},
      {"spans_that_end_before_they_begin", backwards},
      {"duplicate_spans", family.duplicates},
      {"spans_without_their_parent", finder.missing},
      {"spans_in_circles_of_parents", family.in_circles},
      {"children_before_their_parent_in_one_clock", finder.early},
      {"links_without_their_span", finder.missing_links},
      {"links_that_say_no_order", finder.related},
      {"links_beside_calls", beside_calls},
      {"calls_without_a_host", finder.without_host},
      {"calls_set_aside", finder.aside},
      {"edges_below_the_resolution", unresolved},
      {"calls_without_a_length", finder.endless},
      {"contradicted_ends", result.rejected.contradicted},
      {"ends_nobody_waits_for", result.rejected.asynchronous},
      {"edges_at_times_shown_twice", result.rejected.shown_twice},
  });
  return result;
}

}  // namespace entrain::spans
