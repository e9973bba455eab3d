// SPDX-License-Identifier: BSD-3-Clause
#include "verify/channels.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/free_memory.hpp"

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
  std::copy(kept.begin(), kept.end(), values);
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
  return std::any_of(instants.begin(), instants.end(), [&](std::uint32_t instant) {
    return location(instant) != location(instants.front());
  });
}

}  // namespace

/// Lists the sides in parcels, sorted by key. Sides without ends are cancelled operations.
std::vector<Channels::OpenSide> Channels::sides_of(std::span<const HeadParcel> parcels) {
  std::vector<OpenSide> sides;
  for (std::size_t p = 0; p < parcels.size(); ++p) {
    std::size_t first = 0;
    for (const ChannelHead& head : parcels[p].heads) {
      if (head.count > 0) sides.push_back({.head = head, .ends = {}, .parcel = p, .first = first});
      first += head.count;
    }
  }
  std::sort(sides.begin(), sides.end(),
            [](const OpenSide& a, const OpenSide& b) { return a.head.key < b.head.key; });
  return sides;
}

/// Returns why a claim does not hold, or null.
const char* Channels::test(const Records& records, const trace::ClaimedChannel& claim,
                           const OpenSide& sends, const OpenSide& receives) {
  if (!records.messages_missing) {
    const trace::ClaimedRun all{0, 0, receives.head.count};
    return claim.pairs == std::vector{all} ? nullptr : "no record is missing";
  }
  const auto facts = [](const OpenSide& side) {
    return std::span<const EndFacts>(side.ends.facts, side.head.count);
  };
  return refute(claim, {.sends = facts(sends),
                        .receives = facts(receives),
                        .sender_has_gaps = records.with_gaps[claim.sender],
                        .receiver_has_gaps = records.with_gaps[claim.receiver],
                        .by_clock_records = records.by_clock_records});
}

/// Messages pair in posting order, unless some are missing: then as claimed.
MatchedChannel Channels::match_messages(const Records& records, const OpenSide& sends,
                                        const OpenSide& receives, LeftOut& counts) {
  const ChannelKey& key = sends.head.key;
  MatchedChannel matched{.key = key,
                         .pairs = std::min(sends.head.count, receives.head.count),
                         .sends = sends.ends,
                         .receives = receives.ends};
  const auto* claim = find_claim(records.witness.channels,
                                 std::tuple(key.sender, key.receiver, key.space, key.tag));
  if (claim != nullptr) {
    ++claims_;
    const char* const why = test(records, *claim, sends, receives);
    if (why != nullptr && why_ == nullptr) {
      why_ = why;
      refuted_ = fmt::format("messages from process {} to {} on communicator {} with tag {}",
                             key.sender, key.receiver, key.space, key.tag);
    }
    if (why != nullptr) claim = nullptr;
  }
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
  if (is_within_location(key, records.places)) return matched;
  counts.coverage.paired += matched.pairs;
  counts.coverage.ambiguous += claim != nullptr ? claim->ambiguous : 0;
  counts.coverage.in_gaps += claim != nullptr ? claim->receives_in_gaps : 0;
  return matched;
}

/// Pairs synchronisations in order of their stored stamps, which threads of a process share. If
/// threads share a side and there are too many targets, the first ones stay unused: each effect
/// follows its cause.
MatchedChannel Channels::match_synchronisations(const Places& places, const OpenSide& sends,
                                                const OpenSide& receives) {
  const ChannelKey& key = sends.head.key;
  MatchedChannel matched{.key = key,
                         .pairs = std::min(sends.head.count, receives.head.count),
                         .sends = sends.ends,
                         .receives = receives.ends};
  if (is_shared(places, key.sender, sends.ends, sends.head.count) ||
      is_shared(places, key.receiver, receives.ends, receives.head.count)) {
    matched.receives.times += receives.head.count - matched.pairs;
    matched.receives.instants += receives.head.count - matched.pairs;
    // A pair on one thread would need the order of its stream.
    if (key.sender == key.receiver) matched.pairs = 0;
  }
  return matched;
}

Channels::Channels(std::span<const HeadParcel> sends, const HeadParcel& receives)
    : sent_(sides_of(sends)), received_(sides_of({&receives, 1})) {}

void Channels::take_ends(std::vector<ChannelParcel>&& sends, ChannelParcel&& receives) {
  sends_ = std::move(sends);
  receives_.push_back(std::move(receives));
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
  return std::all_of(received_.begin(), received_.end(), [&](const OpenSide& side) {
    if (side.head.key.stage != Stage::message) return true;
    const auto sends = std::lower_bound(
        sent_.begin(), sent_.end(), side.head.key,
        [](const OpenSide& sent, const ChannelKey& key) { return sent.head.key < key; });
    return sends != sent_.end() && sends->head == side.head;
  });
}

Result<void> Channels::pair(const Records& records, LeftOut& counts, const Cancel& cancel) {
  Unmatched& unmatched = counts.unmatched;
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
      MatchedChannel matched = send->head.key.stage == Stage::message
                                   ? match_messages(records, *send, *receive, counts)
                                   : match_synchronisations(records.places, *send, *receive);
      // Only their order pairs synchronisations, so nothing may be missing.
      if (records.any_missing && matched.key.stage != Stage::message) matched.pairs = 0;
      count_unmatched(matched.key.stage, send->head.count - matched.pairs,
                      receive->head.count - matched.pairs, unmatched);
      channels_.push_back(matched);
      ++send;
      ++receive;
    }
  }
  for (auto* sides : {&sent_, &received_}) free_memory(*sides);
  for (auto* parcels : {&sends_, &receives_}) {
    for (ChannelParcel& parcel : *parcels) free_memory(parcel.facts);
  }
  const std::string& path = records.share.trace.path;
  if (why_ != nullptr) return refuted(path, refuted_, why_);
  const auto about = std::count_if(
      records.witness.channels.begin(), records.witness.channels.end(), [&](const auto& claim) {
        return claim.receiver >= records.places.process_count() ||
               records.places.owner(claim.receiver) == records.share.team.rank();
      });
  if (static_cast<std::size_t>(about) == claims_) return {};
  return refuted(path, "messages", "a claimed channel has no sends or no receives, or two claims");
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
