// SPDX-License-Identifier: BSD-3-Clause
#include "verify/channels.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/free_memory.hpp"
#include "verify/exchange_part.hpp"
#include "verify/numbering.hpp"
#include "verify/odd_couples.hpp"

namespace entrain::verify {

namespace {

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

/// Keeps the ends of these couples, in their order, at the begin of the side.
template <std::uint32_t Alignment::Couple::*index>
void keep(const ChannelSide& side, const Row& row, std::span<const Alignment::Couple> couples) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> kept;
  kept.reserve(couples.size());
  for (const Alignment::Couple& couple : couples) {
    const std::uint32_t place = row.places[couple.*index];
    kept.emplace_back(side.times[place], side.instants[place]);
  }
  for (std::size_t k = 0; k < kept.size(); ++k) {
    std::tie(side.times[k], side.instants[k]) = kept[k];
  }
}

/// Pairs by ordinals if the habits of both processes are firm, and by alignment otherwise, unless
/// only delays would decide.
Alignment pair_rows(const Row& sends, const Row& receives, bool only_gaps) {
  if (only_gaps || !sends.ordinals.any() || !receives.ordinals.any()) {
    return align_rows(sends, receives);
  }
  if (std::optional<Alignment> coupled = couple_by_ordinals(sends, receives)) {
    return std::move(*coupled);
  }
  return delays_alone(sends, receives) ? leave_open(sends, receives) : align_rows(sends, receives);
}

}  // namespace

void exchange_parcels(Team& team, std::vector<ChannelParcel>& parcels) {
  exchange_part(team, parcels, &ChannelParcel::heads);
  exchange_part(team, parcels, &ChannelParcel::times);
  exchange_part(team, parcels, &ChannelParcel::instants);
}

/// Appends the sides in a parcel, and frees their heads.
void Channels::append_sides(ChannelParcel& parcel, std::vector<OpenSide>& sides) {
  std::size_t first = 0;
  for (const ChannelHead& head : parcel.heads) {
    sides.push_back(
        {.head = head, .ends = {parcel.times.data() + first, parcel.instants.data() + first}});
    first += head.count;
  }
  free_memory(parcel.heads);
}

/// True if several threads have ends on this side.
bool Channels::is_shared(const Places& places, std::uint32_t process, const OpenSide& side) {
  if (places.is_single(process)) return false;
  const auto location = [&](std::uint32_t instant) {
    return places.event(process, instant).location;
  };
  const std::span<const std::uint32_t> instants(side.ends.instants, side.head.count);
  return std::any_of(instants.begin(), instants.end(), [&](std::uint32_t instant) {
    return location(instant) != location(instants.front());
  });
}

/// Sorts the ends by time; the earliest `unused` ones come last.
void Channels::sort_by_time(const OpenSide& side, std::size_t unused) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> sorted;
  for (std::size_t k = 0; k < side.head.count; ++k) {
    sorted.emplace_back(side.ends.times[k], side.ends.instants[k]);
  }
  std::sort(sorted.begin(), sorted.end());
  std::rotate(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(unused), sorted.end());
  for (std::size_t k = 0; k < side.head.count; ++k) {
    side.ends.times[k] = sorted[k].first;
    side.ends.instants[k] = sorted[k].second;
  }
}

/// Messages pair in posting order, unless some may be missing.
MatchedChannel Channels::match_messages(const Places& places, const OpenSide& sends,
                                        const OpenSide& receives, const TraitRows* rows,
                                        LeftOut& counts) {
  const ChannelKey& key = sends.head.key;
  MatchedChannel matched{.key = key,
                         .pairs = std::min(sends.head.count, receives.head.count),
                         .sends = sends.ends,
                         .receives = receives.ends};
  Alignment aligned;
  if (rows != nullptr) {
    const Row sent = rows->sends(key), received = rows->receives(key);
    aligned = pair_rows(sent, received, rows->only_gaps());
    if (!rows->only_gaps()) {
      give_up_odd_messages(sent, received, aligned);
      std::vector<Delivery>& delivered = deliveries_[{key.receiver, key.sender}];
      for (const Alignment::Couple& couple : aligned.couples) {
        delivered.push_back({.arrived = received.traits[couple.receive].time,
                             .sent = sent.traits[couple.send].time});
      }
    }
    keep<&Alignment::Couple::send>(matched.sends, sent, aligned.couples);
    keep<&Alignment::Couple::receive>(matched.receives, received, aligned.couples);
    matched.pairs = static_cast<std::uint32_t>(aligned.couples.size());
  }
  counts.unmatched.ambiguous += aligned.ambiguous;
  counts.unmatched.in_gaps += aligned.sends_in_gaps + aligned.receives_in_gaps;
  if (is_within_location(key, places)) return matched;
  counts.coverage.paired += matched.pairs;
  counts.coverage.ambiguous += aligned.ambiguous;
  counts.coverage.in_gaps += aligned.receives_in_gaps;
  return matched;
}

/// Pairs synchronisations. They have no posting order where threads share a side. But if each
/// effect follows its cause, so do the k-th ones of both sides sorted by time. If there are too
/// many targets, this does not hold for the first ones, which stay unused.
MatchedChannel Channels::match_synchronisations(const Places& places, const OpenSide& sends,
                                                const OpenSide& receives) {
  const ChannelKey& key = sends.head.key;
  MatchedChannel matched{.key = key,
                         .pairs = std::min(sends.head.count, receives.head.count),
                         .sends = sends.ends,
                         .receives = receives.ends};
  if (is_shared(places, key.sender, sends) || is_shared(places, key.receiver, receives)) {
    depend_on_times_ = true;
    sort_by_time(sends, 0);
    sort_by_time(receives, receives.head.count - matched.pairs);
    // A pair on one thread would need the order of its stream.
    if (key.sender == key.receiver) matched.pairs = 0;
  }
  return matched;
}

Channels::Channels(std::vector<ChannelParcel>&& sends, ChannelParcel&& receives)
    : sends_(std::move(sends)), receives_(std::move(receives)) {
  for (ChannelParcel& parcel : sends_) append_sides(parcel, sent_);
  append_sides(receives_, received_);
  for (std::vector<OpenSide>* sides : {&sent_, &received_}) {
    std::sort(sides->begin(), sides->end(),
              [](const OpenSide& a, const OpenSide& b) { return a.head.key < b.head.key; });
  }
}

bool Channels::complete() const {
  // Every receiving side needs an equal sending side; channels without receives may have sends.
  return std::all_of(received_.begin(), received_.end(), [&](const OpenSide& side) {
    if (side.head.key.stage != Stage::message) return true;
    const auto sends = std::lower_bound(
        sent_.begin(), sent_.end(), side.head.key,
        [](const OpenSide& sent, const ChannelKey& key) { return sent.head.key < key; });
    return sends != sent_.end() && sends->head == side.head;
  });
}

void Channels::pair(const Missing& where, LeftOut& counts, const Cancel& cancel) {
  Unmatched& unmatched = counts.unmatched;
  auto send = sent_.begin();
  auto receive = received_.begin();
  while ((send != sent_.end() || receive != received_.end()) && !cancel.asked()) {
    if (receive == received_.end() || (send != sent_.end() && send->head.key < receive->head.key)) {
      count_unmatched(send->head.key.stage, send->head.count, 0, unmatched);
      ++send;
    } else if (send == sent_.end() || receive->head.key < send->head.key) {
      count_unmatched(receive->head.key.stage, 0, receive->head.count, unmatched);
      ++receive;
    } else {
      MatchedChannel matched =
          send->head.key.stage == Stage::message
              ? match_messages(where.places, *send, *receive, where.rows, counts)
              : match_synchronisations(where.places, *send, *receive);
      // Only their order pairs synchronisations, so nothing may be missing.
      if (where.any && matched.key.stage != Stage::message) matched.pairs = 0;
      count_unmatched(matched.key.stage, send->head.count - matched.pairs,
                      receive->head.count - matched.pairs, unmatched);
      channels_.push_back(matched);
      ++send;
      ++receive;
    }
  }
  free_memory(sent_);
  free_memory(received_);
}

void Channels::set_times(const TimeSource& source) {
  const auto set_side = [&](std::uint32_t process, const ChannelSide& side, std::uint32_t ends) {
    if (ends == 0) return;
    EventTimes time(source, process, ends);
    for (std::uint32_t k = 0; k < ends; ++k) side.times[k] = time(side.instants[k]);
  };
  // Works process by process, so that its events are near.
  std::vector<const MatchedChannel*> by_receiver;
  for (const MatchedChannel& channel : channels_) {
    set_side(channel.key.sender, channel.sends, channel.pairs);
    by_receiver.push_back(&channel);
  }
  std::ranges::stable_sort(by_receiver, {},
                           [](const MatchedChannel* channel) { return channel->key.receiver; });
  for (const MatchedChannel* const channel : by_receiver)
    set_side(channel->key.receiver, channel->receives, channel->pairs);
}

}  // namespace entrain::verify
