// SPDX-License-Identifier: BSD-3-Clause
#include "verify/channels.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "base/free_memory.hpp"
#include "base/try.hpp"
#include "trace/clock_maps.hpp"
#include "trace/recorded_clock.hpp"

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

/// Keeps the values of the pairs, in their order, at the begin of a side.
template <std::uint32_t trace::ClaimedRun::*first, class T>
void keep(T* values, std::span<const trace::ClaimedRun> runs) {
  std::vector<T> kept;
  for (const trace::ClaimedRun& run : runs) {
    kept.insert(kept.end(), values + run.*first, values + run.*first + run.count);
  }
  std::ranges::copy(kept, values);
}
template <std::uint32_t trace::ClaimedRun::*first>
void keep(const ChannelSide& side, std::span<const trace::ClaimedRun> runs) {
  keep<first>(side.times, runs);
  keep<first>(side.instants, runs);
}

/// True if several threads have ends on this side.
bool is_shared(const Places& places, std::uint32_t process, const ChannelSide& side,
               std::uint32_t count) {
  if (places.is_single(process)) return false;
  const auto location = [&](std::uint32_t instant) {
    return places.event(process, instant).location;
  };
  const std::span<const std::uint32_t> instants(side.instants, count);
  return std::ranges::any_of(instants, [&](std::uint32_t instant) {
    return location(instant) != location(instants.front());
  });
}

/// Appends `count` values and returns the first. The memory must have been reserved: pointers to
/// earlier values stay valid.
template <class T>
T* append(BigVector<T>& values, std::size_t count) {
  const std::size_t first = values.size();
  values.resize(first + count);
  return values.data() + first;
}

/// Writes the posts of outlines into the parcels of the members that pair them.
class EndWriter {
 public:
  EndWriter(const TimeSource& source, std::span<ChannelParcel> sends, ChannelParcel& receives,
            bool with_facts)
      : source_(source), sends_(sends), receives_(receives), with_facts_(with_facts) {}

  void write(std::span<Outline> outlines) {
    reserve(outlines);
    for (Outline& outline : outlines) {
      write_posts(outline);
      free_memory(outline.posts);
    }
  }

 private:
  ChannelParcel& parcel_of(const Outline::Channel& channel) {
    return channel.send ? sends_[source_.places.owner(channel.key.receiver)] : receives_;
  }

  void reserve(std::span<const Outline> outlines) {
    std::map<ChannelParcel*, std::size_t> sizes;
    for (const Outline& outline : outlines) {
      for (const Outline::Channel& channel : outline.channels) {
        sizes[&parcel_of(channel)] += channel.count;
      }
    }
    for (const auto& [parcel, size] : sizes) {
      parcel->times.reserve(size);
      parcel->instants.reserve(size);
      if (with_facts_) parcel->facts.reserve(size);
    }
  }

  std::vector<ChannelSide> begin_channels(const Outline& outline) {
    std::vector<ChannelSide> sides;
    for (const Outline::Channel& channel : outline.channels) {
      ChannelParcel& to = parcel_of(channel);
      sides.push_back({.times = append(to.times, channel.count),
                       .instants = append(to.instants, channel.count),
                       .facts = with_facts_ ? append(to.facts, channel.count) : nullptr});
    }
    return sides;
  }

  void write_posts(const Outline& outline) {
    const std::vector<ChannelSide> sides = begin_channels(outline);
    std::uint32_t i = 0;
    for (const LocationIndex l : source_.places.locations(outline.process)) {
      const trace::LocationSkeleton& location = source_.trace.locations[l];
      const std::uint32_t first = source_.places.first_number(l);
      trace::StreamTimes time(source_.maps[l]);
      trace::RecordedClock clock;
      if (with_facts_) clock = trace::RecordedClock(location, source_.trace.definitions);
      for (; i < outline.posts.size(); ++i) {
        const Outline::Post& post = outline.posts[i];
        if (post.instant - first >= location.events.size()) break;
        if (post.channel == k_none) continue;
        const ChannelSide& side = sides[post.channel];
        const std::uint64_t stamp = location.events.time(post.instant - first);
        side.times[post.order] = time(stamp);
        side.instants[post.order] = post.instant;
        if (!with_facts_) continue;
        side.facts[post.order] = {
            .time = clock.time(stamp), .doubt = clock.doubt(stamp), .symbol = post.symbol};
      }
    }
  }

  const TimeSource& source_;
  std::span<ChannelParcel> sends_;  ///< one per member
  ChannelParcel& receives_;
  bool with_facts_;
};

/// Lists the sides in parcels, sorted by key. Sides without ends are cancelled operations.
std::vector<OpenSide> sides_of(std::span<const ChannelHeads> parcels) {
  std::vector<OpenSide> sides;
  for (std::size_t p = 0; p < parcels.size(); ++p) {
    std::size_t first = 0;
    for (const ChannelHead& head : parcels[p]) {
      if (head.count > 0) sides.push_back({.head = head, .ends = {}, .parcel = p, .first = first});
      first += head.count;
    }
  }
  std::ranges::sort(sides,
                    [](const OpenSide& a, const OpenSide& b) { return a.head.key < b.head.key; });
  return sides;
}

/// Returns why a claim does not hold, or null.
const char* refute(const Records& records, const trace::ClaimedChannel& claim,
                   const OpenSide& sends, const OpenSide& receives) {
  if (!records.messages_missing) {
    const trace::ClaimedRun all{0, 0, receives.head.count};
    return claim.pairs == std::vector{all} ? nullptr : "no record is missing";
  }
  const auto facts = [](const OpenSide& side) {
    return std::span<const EndFacts>(side.ends.facts, side.head.count);
  };
  return verify::refute(claim, {.sends = facts(sends),
                                .receives = facts(receives),
                                .sender_has_gaps = records.with_gaps[claim.sender],
                                .receiver_has_gaps = records.with_gaps[claim.receiver],
                                .by_clock_records = records.by_clock_records});
}

/// Messages pair in posting order, unless some are missing: then as claimed.
void match_messages(const Records& records, const OpenSide& sends, const OpenSide& receives,
                    const trace::ClaimedChannel* claim, MatchedChannel& matched, LeftOut& counts) {
  static const trace::ClaimedChannel nothing;
  if (claim == nullptr && sends.head != receives.head) claim = &nothing;
  if (claim != nullptr) {
    keep<&trace::ClaimedRun::first>(matched.sends, claim->pairs);
    keep<&trace::ClaimedRun::second>(matched.receives, claim->pairs);
    matched.pairs = 0;
    for (const trace::ClaimedRun& run : claim->pairs) matched.pairs += run.count;
    counts.unmatched.ambiguous += claim->ambiguous;
    counts.unmatched.in_gaps += std::int64_t{claim->sends_in_gaps} + claim->receives_in_gaps;
  }
  if (is_within_location(matched.key, records.places)) return;
  counts.coverage.paired += matched.pairs;
  counts.coverage.ambiguous += claim != nullptr ? claim->ambiguous : 0;
  counts.coverage.in_gaps += claim != nullptr ? claim->receives_in_gaps : 0;
}

/// Pairs synchronisations in order of their stored stamps, which threads of a process share. If
/// threads share a side and there are too many targets, the first ones stay unused: each effect
/// follows its cause.
void match_synchronisations(const Records& records, const OpenSide& sends, const OpenSide& receives,
                            MatchedChannel& matched) {
  const ChannelKey& key = matched.key;
  if (is_shared(records.places, key.sender, sends.ends, sends.head.count) ||
      is_shared(records.places, key.receiver, receives.ends, receives.head.count)) {
    matched.receives.times += receives.head.count - matched.pairs;
    matched.receives.instants += receives.head.count - matched.pairs;
    // A pair on one thread would need the order of its stream.
    if (key.sender == key.receiver) matched.pairs = 0;
  }
  // Only their order pairs them, so nothing may be missing.
  if (records.any_missing) matched.pairs = 0;
}

/// Pairs the ends of one channel. Counts the claims about it.
Result<MatchedChannel> pair_channel(const Records& records, const OpenSide& sends,
                                    const OpenSide& receives, LeftOut& counts,
                                    std::size_t& claims) {
  const ChannelKey& key = sends.head.key;
  MatchedChannel matched{.key = key,
                         .pairs = std::min(sends.head.count, receives.head.count),
                         .both = std::min(sends.head.count, receives.head.count),
                         .sends = sends.ends,
                         .receives = receives.ends};
  const trace::ClaimedChannel* claim = nullptr;
  if (key.stage == Stage::message) {
    claim = find_claim(records.witness.channels,
                       std::tuple(key.sender, key.receiver, key.space, key.tag));
    if (const char* const why = claim ? refute(records, *claim, sends, receives) : nullptr) {
      return refuted(records.share.trace.path,
                     fmt::format("messages from process {} to {} on communicator {} with tag {}",
                                 key.sender, key.receiver, key.space, key.tag),
                     why);
    }
    match_messages(records, sends, receives, claim, matched, counts);
  } else {
    match_synchronisations(records, sends, receives, matched);
  }
  count_unmatched(key.stage, sends.head.count - matched.pairs, receives.head.count - matched.pairs,
                  counts.unmatched);
  claims += claim != nullptr ? 1 : 0;
  return matched;
}

}  // namespace

Channels::Channels(Team& team, const Places& places, std::span<const Outline> outlines) {
  std::vector<ChannelHeads> sends(team.size());
  ChannelHeads receives;
  for (const Outline& outline : outlines) {
    for (const Outline::Channel& channel : outline.channels) {
      ChannelHeads& to = channel.send ? sends[places.owner(channel.key.receiver)] : receives;
      to.push_back({channel.key, channel.count, channel.symbols});
    }
  }
  sent_ = sides_of(exchange(team, std::move(sends)));
  received_ = sides_of({&receives, 1});
}

void Channels::exchange_ends(Team& team, const TimeSource& source, std::span<Outline> outlines,
                             bool with_facts) {
  sends_.resize(team.size());
  receives_.resize(1);
  EndWriter(source, sends_, receives_.front(), with_facts).write(outlines);
  exchange_part(team, sends_, &ChannelParcel::times);
  exchange_part(team, sends_, &ChannelParcel::instants);
  exchange_part(team, sends_, &ChannelParcel::facts);
  const auto set_ends = [](std::vector<OpenSide>& sides, std::vector<ChannelParcel>& parcels) {
    for (OpenSide& side : sides) {
      ChannelParcel& of = parcels[side.parcel];
      side.ends = {.times = of.times.data() + side.first,
                   .instants = of.instants.data() + side.first,
                   .facts = of.facts.empty() ? nullptr : of.facts.data() + side.first};
    }
  };
  set_ends(sent_, sends_);
  set_ends(received_, receives_);
}

bool Channels::complete() const {
  // Every receiving side needs an equal sending side; channels without receives may have sends.
  return std::ranges::all_of(received_, [&](const OpenSide& side) {
    if (side.head.key.stage != Stage::message) return true;
    const auto key_of = [](const OpenSide& sent) { return sent.head.key; };
    const auto sends = std::ranges::lower_bound(sent_, side.head.key, {}, key_of);
    return sends != sent_.end() && sends->head == side.head;
  });
}

Result<void> Channels::pair(const Records& records, LeftOut& counts, const Cancel& cancel) {
  Unmatched& unmatched = counts.unmatched;
  std::size_t claims = 0;
  auto send = sent_.begin();
  auto receive = received_.begin();
  while (send != sent_.end() || receive != received_.end()) {
    if (cancel.asked()) return {};
    if (receive == received_.end() || (send != sent_.end() && send->head.key < receive->head.key)) {
      count_unmatched(send->head.key.stage, send->head.count, 0, unmatched);
      ++send;
    } else if (send == sent_.end() || receive->head.key < send->head.key) {
      count_unmatched(receive->head.key.stage, 0, receive->head.count, unmatched);
      ++receive;
    } else {
      TRY_ASSIGN(const MatchedChannel matched,
                 pair_channel(records, *send++, *receive++, counts, claims));
      channels_.push_back(matched);
    }
  }
  for (auto* sides : {&sent_, &received_}) free_memory(*sides);
  for (auto* parcels : {&sends_, &receives_}) {
    for (ChannelParcel& parcel : *parcels) free_memory(parcel.facts);
  }
  if (claims == records.about(records.witness.channels)) return {};
  return refuted(records.share.trace.path, "messages",
                 "a claimed channel has no sends or no receives, or two claims");
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
