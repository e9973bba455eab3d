// SPDX-License-Identifier: BSD-3-Clause
#include "match/incomplete_messages.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/executor.hpp"
#include "match/align_records.hpp"
#include "match/channel_sides.hpp"
#include "match/delay_outliers.hpp"
#include "match/ends.hpp"
#include "match/gaps.hpp"
#include "match/message_counts.hpp"
#include "match/numbered_alignment.hpp"

namespace entrain::match {

namespace {

class IncompleteMatcher {
 public:
  explicit IncompleteMatcher(Builder& builder)
      : builder_(builder), threads_(builder.options().threads) {
    for (std::uint32_t p = 0; p < builder.processes().size(); ++p) {
      if (!builder.processes()[p].empty()) processes_.push_back(p);
    }
  }

  MessageFates run() {
    collect();
    ship();
    align_all();
    return add_edges();
  }

 private:
  /// Both sides of a channel whose receives this member owns.
  struct ChannelPair {
    const Channel* channel = nullptr;
    const ChannelSide* sends = nullptr;  ///< null: there are none
    const ChannelSide* receives = nullptr;
    Alignment alignment;
  };

  void collect() {
    std::vector<ChannelSides> sends(processes_.size());
    std::vector<CallContext> contexts(processes_.size());
    received_.resize(processes_.size());
    for_each_in_parallel(threads_, processes_.size(), [&](std::size_t i) {
      if (builder_.cancel().asked()) return;
      ProcessSides sides = channel_sides(builder_, processes_[i]);
      sends[i] = std::move(sides.sends);
      received_[i] = std::move(sides.receives);
      contexts[i] = take_call_context(sides);
    });
    builder_.call_contexts = std::make_shared<CallContexts>();
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      if (contexts[i].calls.empty()) continue;  // no known calls
      builder_.call_contexts->by_process.emplace(processes_[i], std::move(contexts[i]));
    }
    for (ChannelSides& of_process : sends) sent_.merge(of_process);
  }

  /// Moves sends to the member that owns the receiver.
  void ship() {
    Team& team = builder_.team();
    if (team.size() == 1) return;
    std::vector<std::vector<std::uint64_t>> parcels(team.size());
    for (auto at = sent_.begin(); at != sent_.end();) {
      const std::uint32_t owner = builder_.owner_of_process(at->first.receiver);
      if (owner == team.rank()) {
        ++at;
        continue;
      }
      pack(at->first, at->second, parcels[owner]);
      at = sent_.erase(at);
    }
    for (const std::vector<std::uint64_t>& parcel : exchange(team, std::move(parcels))) {
      unpack(parcel);
    }
  }
  /// Words of a parcel's head, of a pause and of an end, which follow in this order.
  static constexpr std::size_t k_head = 6, k_pause = 2, k_end = 5;
  static void pack(const Channel& channel, const ChannelSide& side,
                   std::vector<std::uint64_t>& parcel) {
    parcel.insert(parcel.end(), {std::uint64_t{channel.comm} << 32 | channel.tag,
                                 std::uint64_t{channel.sender} << 32 | channel.receiver,
                                 std::uint64_t{side.position} << 1 | (side.ends_in_gap ? 1 : 0),
                                 std::uint64_t{side.before_gaps} << 32 | side.ends.size(),
                                 std::uint64_t{side.total} << 32 | side.pauses.size(),
                                 std::uint64_t{side.kinds} << 32 | side.evidence});
    for (const Pause& pause : side.pauses) {
      parcel.insert(parcel.end(), {pause.end, pause.length});
    }
    for (std::size_t k = 0; k < side.ends.size(); ++k) {
      const EndRecord& record = side.records[k];
      parcel.insert(parcel.end(),
                    {record.time, std::uint64_t{record.position} << 32 | record.symbol,
                     std::uint64_t{side.ends[k].location} << 32 | side.ends[k].node,
                     std::uint64_t{side.numbers[k]} << 2 | (record.displaced ? 2 : 0) |
                         (record.after_gap ? 1 : 0),
                     std::uint64_t{side.places[k]} << 32 | record.doubt});
    }
  }
  static std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }
  static std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
  void unpack(std::span<const std::uint64_t> parcel) {
    while (!parcel.empty()) {
      const Channel channel{high(parcel[0]), high(parcel[1]), low(parcel[1]), low(parcel[0])};
      ChannelSide& side = sent_[channel];
      side.position = static_cast<std::uint32_t>(parcel[2] >> 1);
      side.ends_in_gap = (parcel[2] & 1) != 0;
      side.before_gaps = high(parcel[3]);
      side.total = high(parcel[4]);
      side.kinds = high(parcel[5]);
      side.evidence = low(parcel[5]);
      const std::size_t ends = low(parcel[3]), pauses = low(parcel[4]);
      parcel = parcel.subspan(k_head);
      for (std::size_t k = 0; k < pauses; ++k) {
        side.pauses.push_back({low(parcel[k_pause * k]), parcel[k_pause * k + 1]});
      }
      parcel = parcel.subspan(k_pause * pauses);
      for (std::size_t k = 0; k < ends; ++k) {
        const auto one = parcel.subspan(k_end * k, k_end);
        side.records.push_back({.time = one[0],
                                .position = high(one[1]),
                                .symbol = low(one[1]),
                                .doubt = low(one[4]),
                                .after_gap = (one[3] & 1) != 0,
                                .displaced = (one[3] & 2) != 0});
        side.ends.push_back({high(one[2]), low(one[2])});
        side.numbers.push_back(static_cast<std::uint32_t>(one[3] >> 2));
        side.places.push_back(high(one[4]));
      }
      parcel = parcel.subspan(k_end * ends);
    }
  }

  void join_sides() {
    for (const ChannelSides& sides : received_) {
      for (const auto& [channel, receives] : sides) {
        const auto sends = sent_.find(channel);
        channels_.push_back({.channel = &channel,
                             .sends = sends == sent_.end() ? nullptr : &sends->second,
                             .receives = &receives,
                             .alignment = {}});
      }
    }
  }

  /// True if gaps explain all missing records: channels between processes without gaps are
  /// complete, and on the others the k-th lengths before all gaps agree.
  bool gaps_explain_all() {
    std::vector<std::uint8_t> unexplained(channels_.size(), 0);
    for_each_in_parallel(threads_, channels_.size(), [&](std::size_t i) {
      const ChannelPair& pair = channels_[i];
      const Channel& channel = *pair.channel;
      const bool gapless =
          !builder_.has_gaps[channel.sender] && !builder_.has_gaps[channel.receiver];
      const std::size_t sent = pair.sends == nullptr ? 0 : pair.sends->ends.size();
      const std::uint32_t count = before_gaps(pair);
      unexplained[i] =
          (gapless && sent != pair.receives->ends.size()) ||
          (count > 0 && equal_symbols(pair.sends->side(), pair.receives->side(), count) < count);
    });
    return !builder_.team().any(std::find(unexplained.begin(), unexplained.end(), 1) !=
                                unexplained.end());
  }
  static std::uint32_t before_gaps(const ChannelPair& pair) {
    return pair.sends == nullptr ? 0
                                 : std::min(pair.sends->before_gaps, pair.receives->before_gaps);
  }

  void align_all() {
    join_sides();
    builder_.only_gaps = gaps_explain_all();
    for_each_in_parallel(threads_, channels_.size(), [&](std::size_t i) {
      if (builder_.cancel().asked()) return;
      ChannelPair& pair = channels_[i];
      const ChannelSide no_sends;
      const ChannelSide& sends = pair.sends == nullptr ? no_sends : *pair.sends;
      if (builder_.only_gaps) {
        pair.alignment = align_after_prefix(before_gaps(pair), sends.side(), pair.receives->side());
      } else {
        pair.alignment = pair_up(sends, *pair.receives);
        remove_delay_outliers(sends.side(), pair.receives->side(), DelayKind::above_latency,
                              pair.alignment);
      }
    });
  }
  /// Pairs by numbers if both processes have a routine, and by alignment otherwise, unless only
  /// delays would decide.
  static Alignment pair_up(const ChannelSide& sends, const ChannelSide& receives) {
    if (sends.has_routine() && receives.has_routine()) {
      const NumberedSide from = sends.numbered(), to = receives.numbered();
      if (std::optional<Alignment> numbered = pair_by_numbers(from, to))
        return std::move(*numbered);
      if (only_delays_distinguish(from, to)) return all_ambiguous(from.side, to.side);
    }
    return align_records(sends.side(), receives.side());
  }

  /// Adds the edges one after the other: nodes of other members get numbers here.
  MessageFates add_edges() {
    MessageFates fates;
    builder_.witness().respects_clock_records = !builder_.only_gaps;
    for (const ChannelPair& pair : channels_) {
      note_received(pair);
      claim(pair);
      for (const auto& [send, receive] : pair.alignment.pairs) {
        builder_.add_edge(EdgeKind::p2p, pair.sends->ends[send], pair.receives->ends[receive]);
      }
      fates.pairs += pair.alignment.pairs.size();
      fates.ambiguous += pair.alignment.ambiguous;
      fates.in_gaps += pair.alignment.in_gaps();
    }
    for (auto& [process, context] : builder_.call_contexts->by_process)
      context.received_before.settle();
    return fates;
  }

  /// Adds the pairs of a channel to the witness, unless the k-th ends are partners.
  void claim(const ChannelPair& pair) {
    if (pair.sends == nullptr) return;
    const Alignment& found = pair.alignment;
    const auto count = [](std::uint64_t ends) { return static_cast<std::uint32_t>(ends); };
    trace::ClaimedChannel claim{.comm = pair.channel->comm,
                                .sender = pair.channel->sender,
                                .receiver = pair.channel->receiver,
                                .tag = pair.channel->tag,
                                .pairs = {},
                                .ambiguous = count(found.ambiguous),
                                .sends_in_gaps = count(found.sends_in_gaps),
                                .receives_in_gaps = count(found.receives_in_gaps)};
    for (const auto& [send, receive] : found.pairs) {
      append_pair(claim.pairs, pair.sends->places[send], pair.receives->places[receive]);
    }
    const std::uint32_t receives = pair.receives->posted;
    const bool complete = pair.sends->ends.size() == receives &&
                          claim.pairs == std::vector<trace::ClaimedRun>{{0, 0, receives}};
    if (!complete) builder_.witness().channels.push_back(std::move(claim));
  }

  void note_received(const ChannelPair& pair) {
    const auto receiver = builder_.call_contexts->by_process.find(pair.channel->receiver);
    if (builder_.only_gaps || receiver == builder_.call_contexts->by_process.end()) return;
    auto& messages = receiver->second.received_before.from(pair.channel->sender);
    messages.reserve(messages.size() + pair.alignment.pairs.size());
    for (const auto& [send, receive] : pair.alignment.pairs) {
      messages.emplace_back(pair.receives->records[receive].time, pair.sends->records[send].time);
    }
  }

  Builder& builder_;
  std::vector<std::uint32_t> processes_;  ///< processes of this member
  unsigned threads_;
  ChannelSides sent_;                   ///< sends to processes of this member
  std::vector<ChannelSides> received_;  ///< one per process of this member
  std::vector<ChannelPair> channels_;
};

}  // namespace

MessageFates match_incomplete_messages(Builder& builder) {
  find_gaps(builder);
  return IncompleteMatcher(builder).run();
}

}  // namespace entrain::match
