// SPDX-License-Identifier: BSD-3-Clause
#include "match/incomplete_messages.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/executor.hpp"
#include "match/align.hpp"
#include "match/beside.hpp"
#include "match/ends.hpp"
#include "match/gaps.hpp"
#include "match/in_step.hpp"
#include "match/odd_delays.hpp"
#include "match/sides.hpp"

namespace entrain::match {

namespace {

class IncompleteMatcher {
 public:
  IncompleteMatcher(Builder& builder, std::span<const std::uint32_t> processes)
      : builder_(builder), processes_(processes), threads_(builder.options().threads) {}

  MessageFates run() {
    collect();
    ship();
    align_all();
    return add_edges();
  }

 private:
  /// A channel of which this member has the receives.
  struct Meeting {
    const Channel* channel = nullptr;
    const ChannelSide* sends = nullptr;  ///< null: there are none
    const ChannelSide* receives = nullptr;
    Alignment alignment;
  };

  void collect() {
    std::vector<Sides> sends(processes_.size());
    std::vector<Beside> beside(processes_.size());
    received_.resize(processes_.size());
    for_each_in_parallel(threads_, processes_.size(), [&](std::size_t i) {
      if (builder_.cancel().asked()) return;
      ProcessSides sides = sides_of(builder_, processes_[i]);
      sends[i] = std::move(sides.sends);
      received_[i] = std::move(sides.receives);
      beside[i] = take_beside(sides);
    });
    builder_.beside = std::make_shared<ProcessesBeside>();
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      if (beside[i].calls.empty()) continue;  // it calls nothing, as far as is known
      builder_.beside->of.emplace(processes_[i], std::move(beside[i]));
    }
    for (Sides& of_process : sends) sent_.merge(of_process);
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
  /// Words of a parcel: a head, then the pauses, then the ends.
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
      const Trait& trait = side.traits[k];
      parcel.insert(parcel.end(), {trait.time, std::uint64_t{trait.position} << 32 | trait.symbol,
                                   std::uint64_t{side.ends[k].location} << 32 | side.ends[k].node,
                                   std::uint64_t{side.numbers[k]} << 2 | (trait.displaced ? 2 : 0) |
                                       (trait.after_gap ? 1 : 0),
                                   trait.doubt});
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
        side.traits.push_back({.time = one[0],
                               .position = high(one[1]),
                               .symbol = low(one[1]),
                               .doubt = low(one[4]),
                               .after_gap = (one[3] & 1) != 0,
                               .displaced = (one[3] & 2) != 0});
        side.ends.push_back({high(one[2]), low(one[2])});
        side.numbers.push_back(static_cast<std::uint32_t>(one[3] >> 2));
      }
      parcel = parcel.subspan(k_end * ends);
    }
  }

  void meet() {
    for (const Sides& sides : received_) {
      for (const auto& [channel, receives] : sides) {
        const auto sends = sent_.find(channel);
        meetings_.push_back({.channel = &channel,
                             .sends = sends == sent_.end() ? nullptr : &sends->second,
                             .receives = &receives,
                             .alignment = {}});
      }
    }
  }

  /// True if gaps alone explain what is missing: channels between processes without gaps are
  /// complete, and on the others the k-th lengths before all gaps agree.
  bool gaps_explain_all() {
    std::vector<std::uint8_t> odd(meetings_.size(), 0);
    for_each_in_parallel(threads_, meetings_.size(), [&](std::size_t i) {
      const Meeting& meeting = meetings_[i];
      const Channel& channel = *meeting.channel;
      const bool gapless =
          !builder_.has_gaps[channel.sender] && !builder_.has_gaps[channel.receiver];
      const std::size_t sent = meeting.sends == nullptr ? 0 : meeting.sends->ends.size();
      const std::uint32_t count = before_gaps(meeting);
      odd[i] = (gapless && sent != meeting.receives->ends.size()) ||
               (count > 0 &&
                equal_symbols(meeting.sends->side(), meeting.receives->side(), count) < count);
    });
    return !builder_.team().any(std::find(odd.begin(), odd.end(), 1) != odd.end());
  }
  static std::uint32_t before_gaps(const Meeting& meeting) {
    return meeting.sends == nullptr
               ? 0
               : std::min(meeting.sends->before_gaps, meeting.receives->before_gaps);
  }

  void align_all() {
    meet();
    builder_.only_gaps = gaps_explain_all();
    for_each_in_parallel(threads_, meetings_.size(), [&](std::size_t i) {
      if (builder_.cancel().asked()) return;
      Meeting& meeting = meetings_[i];
      const ChannelSide nobody;
      const ChannelSide& sends = meeting.sends == nullptr ? nobody : *meeting.sends;
      if (builder_.only_gaps) {
        meeting.alignment =
            align_after(before_gaps(meeting), sends.side(), meeting.receives->side());
      } else {
        meeting.alignment = pair_up(sends, *meeting.receives);
        take_out_odd(sends.side(), meeting.receives->side(), DelayKind::have_a_floor,
                     meeting.alignment);
      }
    });
  }
  /// Where the routines of both processes are known, numbers tell. Where delays alone would, they
  /// must not.
  static Alignment pair_up(const ChannelSide& sends, const ChannelSide& receives) {
    if (sends.has_routine() && receives.has_routine()) {
      const Numbered from = sends.numbered(), to = receives.numbered();
      if (std::optional<Alignment> in_step = pair_in_step(from, to)) return std::move(*in_step);
      if (only_delays_tell(from, to)) return nothing_certain(from.side, to.side);
    }
    return align(sends.side(), receives.side());
  }

  /// One after the other: nodes of other members get numbers here.
  MessageFates add_edges() {
    MessageFates fates;
    for (const Meeting& meeting : meetings_) {
      note_heard(meeting);
      for (const auto& [send, receive] : meeting.alignment.pairs) {
        builder_.add_edge(EdgeKind::p2p, meeting.sends->ends[send],
                          meeting.receives->ends[receive]);
      }
      fates.pairs += meeting.alignment.pairs.size();
      fates.ambiguous += meeting.alignment.ambiguous;
      fates.in_gaps += meeting.alignment.in_gaps;
    }
    for (auto& [process, beside] : builder_.beside->of) beside.heard.settle();
    return fates;
  }

  void note_heard(const Meeting& meeting) {
    const auto receiver = builder_.beside->of.find(meeting.channel->receiver);
    if (builder_.only_gaps || receiver == builder_.beside->of.end()) return;
    for (const auto& [send, receive] : meeting.alignment.pairs) {
      receiver->second.heard.add(meeting.channel->sender, meeting.receives->traits[receive].time,
                                 meeting.sends->traits[send].time);
    }
  }

  Builder& builder_;
  std::span<const std::uint32_t> processes_;
  unsigned threads_;
  Sides sent_;                   ///< to processes of this member
  std::vector<Sides> received_;  ///< per process of this member
  std::vector<Meeting> meetings_;
};

}  // namespace

MessageFates match_incomplete_messages(Builder& builder, std::span<const std::uint32_t> processes) {
  find_gaps(builder);
  return IncompleteMatcher(builder, processes).run();
}

}  // namespace entrain::match
