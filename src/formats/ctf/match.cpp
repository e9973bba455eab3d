// SPDX-License-Identifier: BSD-3-Clause
#include "formats/ctf/match.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace entrain::ctf {

namespace {

/// The sends, or the receives on one host, of a message: in order of place and time.
using Ends = std::span<const MessageEnd>;

/// The first ends of which a member has one value.
template <class Member>
Ends alike(Ends ends, Member member) {
  const auto other = std::ranges::find_if(
      ends, [&](const MessageEnd& one) { return one.*member != ends.front().*member; });
  return ends.first(static_cast<std::size_t>(other - ends.begin()));
}

bool is_seen_twice_at_a_place(Ends ends) {
  return std::ranges::adjacent_find(ends, {}, &MessageEnd::place) != ends.end();
}

void pair_message(Ends sends, Ends receives, Messages& result) {
  if (sends.empty()) result.coverage.lost += receives.size();
  if (receives.empty()) result.without_receive += std::ssize(sends);
  if (sends.empty() || receives.empty()) return;
  const bool is_clear =
      alike(sends, &MessageEnd::clock).size() == sends.size() && !is_seen_twice_at_a_place(sends);
  while (!receives.empty()) {
    const Ends own = alike(receives, &MessageEnd::clock);
    receives = receives.subspan(own.size());
    ++result.coverage.receives;
    if (!is_clear || is_seen_twice_at_a_place(own)) {
      ++result.coverage.ambiguous;
      continue;
    }
    ++result.coverage.paired;
    ++result.paired_of_rule[sends.front().rule];
    if (own.front().clock == sends.front().clock) {
      ++result.inside;
    } else {
      result.edges.emplace_back(*std::ranges::min_element(sends, {}, &MessageEnd::time),
                                *std::ranges::min_element(own, {}, &MessageEnd::time));
    }
  }
}

}  // namespace

Messages pair_ends(std::vector<MessageEnd>& ends, std::size_t rules) {
  std::ranges::sort(ends, {}, [](const MessageEnd& one) {
    return std::tuple(one.key, !one.is_send, one.clock, one.place, one.time);
  });
  Messages result;
  result.paired_of_rule.resize(rules);
  for (Ends rest = ends; !rest.empty();) {
    const Ends all = alike(rest, &MessageEnd::key), first = alike(all, &MessageEnd::is_send);
    const Ends receives = first.front().is_send ? all.subspan(first.size()) : all;
    pair_message(all.first(all.size() - receives.size()), receives, result);
    rest = rest.subspan(all.size());
  }
  std::ranges::sort(result.edges, {}, [](const auto& edge) {
    const auto& [send, receive] = edge;
    return std::tuple(send.clock, send.time, receive.clock, receive.time, send.key);
  });
  return result;
}

std::uint64_t drop_refuted(std::vector<std::pair<MessageEnd, MessageEnd>>& edges, Ends ends) {
  // True if no other one is earlier or at the same place, or was sent by another host.
  const auto is_first = [&](const MessageEnd& end) {
    bool is_there = false;
    std::set<std::uint64_t> places;
    const auto own = std::ranges::lower_bound(ends, end.key, {}, &MessageEnd::key);
    for (const MessageEnd& one :
         Ends(own, std::ranges::upper_bound(ends, end.key, {}, &MessageEnd::key))) {
      if (one.is_send != end.is_send || (one.clock != end.clock && !end.is_send)) continue;
      if (one.clock != end.clock || one.time < end.time) return false;
      if (!places.insert(one.place).second) return false;
      is_there = is_there || one.time == end.time;
    }
    return is_there;
  };
  return std::erase_if(edges, [&](const auto& edge) {
    const auto& [send, receive] = edge;
    return send.key != receive.key || !send.is_send || receive.is_send ||
           send.clock == receive.clock || !is_first(send) || !is_first(receive);
  });
}

}  // namespace entrain::ctf
