// SPDX-License-Identifier: BSD-3-Clause
#include "formats/ctf/match.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace entrain::ctf {

namespace {

/// The sends, or the receives on one host, of a message: in order of place and time.
using Ends = std::span<const Sighting>;

bool is_seen_twice_at_a_place(Ends ends) {
  return std::ranges::adjacent_find(ends, {}, [](const Sighting& one) { return one.end.place; }) !=
         ends.end();
}

const Sighting& first_of(Ends ends) { return *std::ranges::min_element(ends, {}, &Sighting::time); }

/// The ends of the begin of `ends` that are of the host of the first one.
Ends of_first_clock(Ends ends) {
  const auto other = std::ranges::find_if(
      ends, [&](const Sighting& one) { return one.clock != ends.front().clock; });
  return ends.first(static_cast<std::size_t>(other - ends.begin()));
}

void pair_message(Ends sends, Ends receives, Messages& result) {
  if (sends.empty()) result.without_send += receives.size();
  if (receives.empty()) result.without_receive += sends.size();
  if (sends.empty() || receives.empty()) return;
  const std::uint32_t sender = sends.front().clock;
  const bool is_clear =
      of_first_clock(sends).size() == sends.size() && !is_seen_twice_at_a_place(sends);
  while (!receives.empty()) {
    const Ends own = of_first_clock(receives);
    receives = receives.subspan(own.size());
    ++result.receives;
    if (!is_clear || is_seen_twice_at_a_place(own)) {
      ++result.ambiguous;
      continue;
    }
    ++result.paired;
    ++result.paired_of_rule[sends.front().end.rule];
    if (own.front().clock == sender) {
      ++result.inside;
    } else {
      result.edges.emplace_back(first_of(sends), first_of(own));
    }
  }
}

}  // namespace

Messages pair_ends(std::vector<Sighting>& ends, std::size_t rules) {
  const auto rank = [](const Sighting& one) {
    return std::tuple(one.end.key, !one.end.is_send, one.clock, one.end.place, one.time);
  };
  std::ranges::sort(ends, {}, rank);
  Messages result;
  result.paired_of_rule.resize(rules);
  for (auto begin = ends.begin(); begin != ends.end();) {
    const auto end = std::find_if(
        begin, ends.end(), [&](const Sighting& one) { return one.end.key != begin->end.key; });
    const auto receives =
        std::find_if(begin, end, [](const Sighting& one) { return !one.end.is_send; });
    pair_message(Ends(begin, receives), Ends(receives, end), result);
    begin = end;
  }
  std::ranges::sort(result.edges, {}, [](const auto& edge) {
    const auto& [send, receive] = edge;
    return std::tuple(send.clock, send.time, receive.clock, receive.time, send.end.key);
  });
  return result;
}

std::uint64_t drop_refuted(std::vector<std::pair<Sighting, Sighting>>& edges,
                           std::span<const Sighting> ends) {
  const auto key = [](const Sighting& one) { return one.end.key; };
  // True if no other one is earlier or at the same place, or was sent by another host.
  const auto is_first = [&](const Sighting& end) {
    std::uint64_t same = 0;
    std::set<std::uint64_t> places;
    const auto first = std::ranges::lower_bound(ends, end.end.key, {}, key);
    for (const Sighting& one : std::span(first, ends.end())) {
      if (one.end.key != end.end.key) break;
      if (one.end.is_send != end.end.is_send) continue;
      if (one.clock != end.clock && end.end.is_send) return false;
      if (one.clock != end.clock) continue;
      if (one.time < end.time || !places.insert(one.end.place).second) return false;
      same += one.time == end.time ? 1 : 0;
    }
    return same > 0;
  };
  return std::erase_if(edges, [&](const auto& edge) {
    const auto& [send, receive] = edge;
    return send.end.key != receive.end.key || !send.end.is_send || receive.end.is_send ||
           send.clock == receive.clock || !is_first(send) || !is_first(receive);
  });
}

}  // namespace entrain::ctf
