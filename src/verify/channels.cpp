// SPDX-License-Identifier: BSD-3-Clause
#include "verify/channels.hpp"

#include <algorithm>
#include <utility>

#include "base/free_memory.hpp"
#include "verify/exchange_part.hpp"

namespace entrain::verify {

namespace {

/// One side of a channel, not matched yet.
struct OpenSide {
  ChannelKey key;
  std::uint32_t count = 0;
  ChannelSide ends;
};

/// Appends the sides in a parcel, and frees their heads.
void append_sides(ChannelParcel& parcel, std::vector<OpenSide>& sides) {
  std::size_t first = 0;
  for (const ChannelHead& head : parcel.heads) {
    sides.push_back({.key = head.key,
                     .count = head.count,
                     .ends = {parcel.times.data() + first, parcel.instants.data() + first}});
    first += head.count;
  }
  free_memory(parcel.heads);
}

void sort_by_key(std::vector<OpenSide>& sides) {
  std::sort(sides.begin(), sides.end(),
            [](const OpenSide& a, const OpenSide& b) { return a.key < b.key; });
}

/// Whether several threads have ends on this side.
bool is_shared(const Places& places, std::uint32_t process, const OpenSide& side) {
  if (places.is_single(process)) return false;
  const auto location = [&](std::uint32_t instant) {
    return places.event(process, instant).location;
  };
  const std::span<const std::uint32_t> instants(side.ends.instants, side.count);
  return std::any_of(instants.begin(), instants.end(), [&](std::uint32_t instant) {
    return location(instant) != location(instants.front());
  });
}

/// Sorts the ends by time; the earliest `unused` of them come last.
void sort_by_time(const OpenSide& side, std::size_t unused) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> sorted;
  for (std::size_t k = 0; k < side.count; ++k) {
    sorted.emplace_back(side.ends.times[k], side.ends.instants[k]);
  }
  std::sort(sorted.begin(), sorted.end());
  std::rotate(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(unused), sorted.end());
  for (std::size_t k = 0; k < side.count; ++k) {
    side.ends.times[k] = sorted[k].first;
    side.ends.instants[k] = sorted[k].second;
  }
}

/// Messages pair in posting order. Synchronisations have no posting order where threads share a
/// side: nobody recorded which came first. But if each took effect after its cause, then so did the
/// k-th ones of both sides sorted by time. If there are too many targets, this does not hold for
/// the first ones: they stay unused.
MatchedChannel match(const Places& places, const OpenSide& sends, const OpenSide& receives) {
  const ChannelKey key = sends.key;
  MatchedChannel matched{.key = key,
                         .pairs = std::min(sends.count, receives.count),
                         .sends = sends.ends,
                         .receives = receives.ends};
  if (key.stage == Stage::message) return matched;
  if (is_shared(places, key.sender, sends) || is_shared(places, key.receiver, receives)) {
    sort_by_time(sends, 0);
    sort_by_time(receives, receives.count - matched.pairs);
    // A pair on one thread would need the order of its stream.
    if (key.sender == key.receiver) matched.pairs = 0;
  }
  return matched;
}

void count_unmatched(Stage stage, std::uint32_t sends, std::uint32_t receives,
                     Unmatched& unmatched) {
  switch (stage) {
    case Stage::message:
      unmatched.sends += sends;
      unmatched.receives += receives;
      break;
    case Stage::group_sync:
      unmatched.rma_group_sync += std::int64_t{sends} + receives;
      break;
    case Stage::notification:
      unmatched.rma_notify += std::int64_t{sends} + receives;
      break;
  }
}

}  // namespace

void exchange_parcels(Team& team, std::vector<ChannelParcel>& parcels) {
  exchange_part(team, parcels, &ChannelParcel::heads);
  exchange_part(team, parcels, &ChannelParcel::times);
  exchange_part(team, parcels, &ChannelParcel::instants);
}

Channels::Channels(const Places& places, std::vector<ChannelParcel>&& sends,
                   ChannelParcel&& receives, Unmatched& unmatched)
    : sends_(std::move(sends)), receives_(std::move(receives)) {
  std::vector<OpenSide> sent, received;
  for (ChannelParcel& parcel : sends_) append_sides(parcel, sent);
  append_sides(receives_, received);
  sort_by_key(sent);
  sort_by_key(received);
  auto send = sent.begin();
  auto receive = received.begin();
  while (send != sent.end() || receive != received.end()) {
    if (receive == received.end() || (send != sent.end() && send->key < receive->key)) {
      count_unmatched(send->key.stage, send->count, 0, unmatched);
      ++send;
    } else if (send == sent.end() || receive->key < send->key) {
      count_unmatched(receive->key.stage, 0, receive->count, unmatched);
      ++receive;
    } else {
      const MatchedChannel matched = match(places, *send, *receive);
      count_unmatched(matched.key.stage, send->count - matched.pairs,
                      receive->count - matched.pairs, unmatched);
      channels_.push_back(matched);
      ++send;
      ++receive;
    }
  }
}

}  // namespace entrain::verify
