// SPDX-License-Identifier: BSD-3-Clause
#include "match/incomplete_messages.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/executor.hpp"
#include "match/align.hpp"
#include "match/gaps.hpp"
#include "match/operations.hpp"

namespace entrain::match {

namespace {

/// One side of a channel, with all that align() wants to know of it.
struct ChannelSide {
  std::vector<NodeRef> ends;
  std::vector<Trait> traits;
  std::uint32_t position = 0;
  std::uint32_t before_gaps = 0;  ///< leading ends that lie before all gaps of the process
  bool ends_in_gap = false;

  [[nodiscard]] Side side() const { return {traits, position, ends_in_gap}; }
};

struct ChannelOrder {
  bool operator()(const Channel& a, const Channel& b) const {
    return std::tie(a.sender, a.receiver, a.comm, a.tag) <
           std::tie(b.sender, b.receiver, b.comm, b.tag);
  }
};
using Sides = std::map<Channel, ChannelSide, ChannelOrder>;

/// The channels of one process. The position of an end counts the other operations of the process
/// with the same partner, on any channel but its own, and its collectives on the communicator.
class ProcessSides {
 public:
  Sides sends, receives;

  ProcessSides(const Builder& builder, std::uint32_t process)
      : builder_(builder), process_(process), gaps_(builder, process) {
    for (const LocationIndex location : builder.processes()[process]) list(location);
    // Operations of several threads merge in the order of their common clock.
    if (builder.processes()[process].size() > 1) {
      std::stable_sort(steps_.begin(), steps_.end(),
                       [](const Step& a, const Step& b) { return a.posted < b.posted; });
    }
    for (const Step& step : steps_) count(step);
    finish();
  }

 private:
  enum class What : std::uint8_t { send, receive, collective };
  /// An operation, in the order of the process.
  struct Step {
    std::uint64_t posted = 0;  ///< stamp
    EventRef event;
    std::uint32_t order = 0;  ///< of the event that posted it
    What what{};
  };

  void list(LocationIndex location) {
    const std::span<const trace::Event> events = builder_.events(location);
    const auto first = static_cast<std::ptrdiff_t>(steps_.size());
    const auto add = [&](std::uint32_t posted, std::uint32_t i, What what) {
      steps_.push_back({events[posted].time, {location, i}, posted, what});
    };
    for_operations(
        events, [&](std::uint32_t i) { add(i, i, What::send); },
        [&](std::uint32_t i, std::uint32_t posted) { add(posted, i, What::receive); }, [](bool) {});
    const auto messages_end = static_cast<std::ptrdiff_t>(steps_.size());
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      if (events[i].kind == trace::EventKind::collective_end) add(i, i, What::collective);
    }
    // Both are in the order in which they were posted.
    std::inplace_merge(steps_.begin() + first, steps_.begin() + messages_end, steps_.end(),
                       [](const Step& a, const Step& b) { return a.order < b.order; });
  }

  void count(const Step& step) {
    const trace::Event& event = builder_.event(step.event);
    if (step.what == What::collective) {
      if (event.comm != k_none) ++calls_[event.comm];
      return;
    }
    const bool sent = step.what == What::send;
    const std::uint32_t peer = builder_.process_of_peer(event.comm, process_, event.peer);
    if (peer == k_none) return;
    const Channel channel{event.comm, sent ? process_ : peer, sent ? peer : process_, event.tag};
    ChannelSide& side = (sent ? sends : receives)[channel];
    std::uint32_t& with_peer = with_[peer];
    const std::uint32_t position =
        with_peer++ - static_cast<std::uint32_t>(side.ends.size()) + calls_[event.comm];
    const std::uint32_t ended = gaps_.ended_by(event.time);
    const std::uint32_t before = side.traits.empty() ? 0 : gaps_.ended_by(side.traits.back().time);
    side.ends.push_back(builder_.ref(step.event));
    side.traits.push_back({.time = event.time,
                           .position = position,
                           .symbol = trace::length_code(event),
                           .after_gap = ended > before});
  }

  void finish() {
    for (Sides* sides : {&sends, &receives}) {
      for (auto& [channel, side] : *sides) {
        const std::uint32_t peer = sides == &sends ? channel.receiver : channel.sender;
        side.position =
            with_[peer] - static_cast<std::uint32_t>(side.ends.size()) + calls_[channel.comm];
        side.before_gaps = gaps_.count_before(side.traits);
        side.ends_in_gap = gaps_.count() > gaps_.ended_by(side.traits.back().time);
      }
    }
  }

  const Builder& builder_;
  const std::uint32_t process_;
  const Gaps gaps_;
  std::vector<Step> steps_;
  std::map<std::uint32_t, std::uint32_t> with_;   ///< operations so far, per other process
  std::map<std::uint32_t, std::uint32_t> calls_;  ///< collectives so far, per communicator
};

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
    received_.resize(processes_.size());
    for_each_in_parallel(threads_, processes_.size(), [&](std::size_t i) {
      if (builder_.cancel().asked()) return;
      ProcessSides sides(builder_, processes_[i]);
      sends[i] = std::move(sides.sends);
      received_[i] = std::move(sides.receives);
    });
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
  static void pack(const Channel& channel, const ChannelSide& side,
                   std::vector<std::uint64_t>& parcel) {
    parcel.insert(parcel.end(), {std::uint64_t{channel.comm} << 32 | channel.tag,
                                 std::uint64_t{channel.sender} << 32 | channel.receiver,
                                 std::uint64_t{side.position} << 1 | (side.ends_in_gap ? 1 : 0),
                                 std::uint64_t{side.before_gaps} << 32 | side.ends.size()});
    for (std::size_t k = 0; k < side.ends.size(); ++k) {
      const Trait& trait = side.traits[k];
      parcel.insert(parcel.end(), {trait.time, std::uint64_t{trait.position} << 32 | trait.symbol,
                                   std::uint64_t{side.ends[k].location} << 32 | side.ends[k].node,
                                   std::uint64_t{trait.after_gap}});
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
      const std::size_t count = low(parcel[3]);
      for (std::size_t k = 0; k < count; ++k) {
        const auto one = parcel.subspan(4 + 4 * k, 4);
        side.traits.push_back({.time = one[0],
                               .position = high(one[1]),
                               .symbol = low(one[1]),
                               .after_gap = one[3] != 0});
        side.ends.push_back({high(one[2]), low(one[2])});
      }
      parcel = parcel.subspan(4 + 4 * count);
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
      meeting.alignment =
          align_after(builder_.only_gaps ? before_gaps(meeting) : 0,
                      meeting.sends == nullptr ? nobody.side() : meeting.sends->side(),
                      meeting.receives->side());
    });
  }

  /// One after the other: nodes of other members get numbers here.
  MessageFates add_edges() {
    MessageFates fates;
    for (const Meeting& meeting : meetings_) {
      for (const auto& [send, receive] : meeting.alignment.pairs) {
        builder_.add_edge(EdgeKind::p2p, meeting.sends->ends[send],
                          meeting.receives->ends[receive]);
      }
      fates.pairs += meeting.alignment.pairs.size();
      fates.ambiguous += meeting.alignment.ambiguous;
      fates.in_gaps += meeting.alignment.in_gaps;
    }
    return fates;
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
