// SPDX-License-Identifier: BSD-3-Clause
#include "explain/staying.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/edge_list.hpp"
#include "base/try.hpp"
#include "difference/at_zero.hpp"
#include "explain/given_constraints.hpp"
#include "trace/clock_maps.hpp"

namespace entrain::explain {

namespace {

/// Steps of the search per stamp: about as many searches of all edges.
constexpr std::uint64_t k_steps_per_stamp = 1000;

/// Clocks in pairs, the smaller number first.
using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Pairs of clocks that have edges with each other, and those of them that violate one as they are.
struct Partners {
  explicit Partners(std::span<const difference::Edge> edges) {
    for (const auto& [cause, effect, delay] : edges) {
      const auto pair = std::minmax(cause.clock, effect.clock);
      all.push_back(pair);
      if (cause.stamp + delay > effect.stamp) opponents.push_back(pair);
    }
    for (Pairs* pairs : {&all, &opponents}) {
      std::sort(pairs->begin(), pairs->end());
      pairs->erase(std::unique(pairs->begin(), pairs->end()), pairs->end());
    }
  }

  Pairs all, opponents;
};

/// Clocks in order of the share of other clocks, of those they have edges with, with which they
/// have violated ones.
std::vector<std::uint32_t> by_trust(std::size_t count, const Partners& partners) {
  const auto count_of = [&](const Pairs& pairs) {
    std::vector<std::size_t> number(count, 0);
    for (const auto& [a, b] : pairs) ++number[a], ++number[b];
    return number;
  };
  const auto of = count_of(partners.all), against = count_of(partners.opponents);
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return against[a] * std::max<std::size_t>(of[b], 1) <
           against[b] * std::max<std::size_t>(of[a], 1);
  });
  return order;
}

std::size_t number_of(const std::vector<char>& votes) {
  return static_cast<std::size_t>(
      std::ranges::count_if(votes, [](char vote) { return vote != 0; }));
}

/// Upper bound on how many of the clocks that vote can stay together: of clocks that are all
/// opponents of each other, one. A cover of their graph by such cliques, made greedily. O(n + e).
std::size_t most_staying(const Pairs& opponents, const std::vector<char>& votes) {
  constexpr std::uint32_t k_no_clique = 0xFFFFFFFF;
  std::vector<std::vector<std::uint32_t>> earlier(votes.size());  // opponents, by the later clock
  for (const auto& [a, b] : opponents) {
    if (votes[a] != 0 && votes[b] != 0) earlier[b].push_back(a);
  }
  std::vector<std::uint32_t> clique(votes.size(), k_no_clique), size, known(votes.size(), 0);
  for (std::uint32_t c = 0; c < votes.size(); ++c) {
    if (votes[c] == 0) continue;
    for (const std::uint32_t other : earlier[c]) {
      if (++known[clique[other]] == size[clique[other]]) clique[c] = clique[other];
    }
    for (const std::uint32_t other : earlier[c]) known[clique[other]] = 0;
    if (clique[c] == k_no_clique) {
      clique[c] = static_cast<std::uint32_t>(size.size());
      size.push_back(0);
    }
    ++size[clique[c]];
  }
  return size.size();
}

/// The clocks that stay; none if no clocks meet all edges, or single edges leave fewer than half of
/// those that vote.
difference::AtZero find_staying(std::size_t count, const Edges& edges, std::int64_t rate_ppb,
                                const std::vector<char>& votes) {
  const GivenConstraints constraints(count, edges, rate_ppb);
  if (!constraints.fit()) return {};
  const Partners partners(constraints.view().edges);
  if (2 * most_staying(partners.opponents, votes) < number_of(votes)) return {};
  const difference::System system(constraints.view());
  difference::Effort effort{.most = k_steps_per_stamp * (std::uint64_t{system.nodes()} + 1)};
  std::vector<std::uint32_t> order = by_trust(count, partners);
  std::ranges::stable_sort(order, std::greater(), [&](std::uint32_t c) { return votes[c]; });
  // Parts that vote outweigh all others.
  std::vector<std::uint32_t> weights;
  for (const char vote : votes)
    weights.push_back(vote != 0 ? static_cast<std::uint32_t>(count) + 1 : 1);
  auto found = find_most_at_zero(system, order, effort, weights);
  return found ? *std::move(found) : difference::AtZero();
}

}  // namespace

std::vector<char> voting_parts(std::size_t count, const Edges& edges, const SetClocks& set) {
  const auto clock_of = [&](std::size_t part) {
    return set.clock_of.empty() ? static_cast<std::uint32_t>(part) : set.clock_of[part];
  };
  if (set.clock_of.empty() && set.set_back.empty()) return std::vector<char>(count, 1);
  std::vector<char> votes(count, 0);
  std::vector<std::uint64_t> ends(count, 0);
  for (const std::uint32_t clock : edges.cause_clock) ++ends[clock];
  for (const std::uint32_t clock : edges.effect_clock) ++ends[clock];
  for (const InstanceMember& member : edges.members) ++ends[member.clock];
  for (std::size_t first = 0, end = 0; first < count; first = end) {
    while (end < count && clock_of(end) == clock_of(first)) ++end;
    const auto most = std::max_element(ends.begin() + static_cast<std::ptrdiff_t>(first),
                                       ends.begin() + static_cast<std::ptrdiff_t>(end));
    const bool was_set =
        end - first > 1 || std::ranges::binary_search(set.set_back, clock_of(first));
    votes[static_cast<std::size_t>(most - ends.begin())] = was_set ? 1 : 2;
  }
  return votes;
}

Result<std::optional<KeptClocks>> keep_most_clocks(const Clocks& clocks, const Edges& edges,
                                                   std::int64_t rate_ppb, const SetClocks& set,
                                                   const AlignGroup& align_group) {
  const std::vector<char> votes = voting_parts(clocks.clocks.size(), edges, set);
  const auto [stays, complete, is_only] =
      find_staying(clocks.clocks.size(), edges, rate_ppb, votes);
  std::size_t staying = 0;
  if (stays.empty()) return std::nullopt;
  for (std::size_t c = 0; c < votes.size(); ++c) staying += votes[c] != 0 && stays[c] != 0 ? 1 : 0;
  const std::size_t all = number_of(votes);
  if (2 * staying < std::max<std::size_t>(all, 1)) return std::nullopt;
  const auto kept = static_cast<std::size_t>(std::count(stays.begin(), stays.end(), 1));
  Clocks group{.name = clocks.name, .resolution_hz = clocks.resolution_hz, .clocks = {}};
  group.clocks.push_back({.name = "all clocks that stay", .kind = ClockKind::wall});
  std::vector<std::uint32_t> number(stays.size(), 0);  // in the group
  for (std::size_t c = 0; c < clocks.clocks.size(); ++c) {
    if (stays[c] != 0) continue;
    const Clock& own = clocks.clocks[c];
    number[c] = static_cast<std::uint32_t>(group.clocks.size());
    group.clocks.push_back({.name = own.name, .kind = ClockKind::wall, .events = own.events});
  }
  const EdgeList own = regroup(edges, {[&](std::uint32_t clock, std::uint64_t time) {
                                 return EdgeList::End{number[clock], time};
                               }});
  TRY_ASSIGN(const std::vector<ClockMap> aligned, align_group(group, own.view()));
  KeptClocks result{.maps = std::vector<ClockMap>(clocks.clocks.size()),
                    .kept = kept,
                    .are_known = is_only || all <= 2};
  for (std::size_t c = 0; c < clocks.clocks.size(); ++c) {
    if (stays[c] == 0) result.maps[c] = trace::seen_from(aligned[0], aligned[number[c]]);
  }
  return result;
}

}  // namespace entrain::explain
