// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <utility>

#include "base/executor.hpp"
#include "base/flat_map.hpp"
#include "base/free_memory.hpp"
#include "match/builder.hpp"
#include "match/gaps.hpp"
#include "match/incomplete_messages.hpp"
#include "match/operations.hpp"

namespace entrain::match {

namespace {

using trace::Event;
using trace::EventKind;

class ProcessMessages {
 public:
  Operations sends, receives;
  std::uint64_t lost_sends = 0, lost_receives = 0;  ///< records that name an undefined process
  std::uint64_t cancelled_sends = 0, cancelled_receives = 0;

  void collect(const Builder& builder, std::uint32_t process) {
    const auto& locations = builder.processes()[process];
    several_ = builder.is_threaded(process);
    std::size_t sent = 0, received = 0;
    for (const LocationIndex location : locations) {
      sent += builder.event_counts(location).sends;
      received += builder.event_counts(location).receives;
    }
    sends.reserve(sent);
    receives.reserve(received);
    for (const LocationIndex location : locations) collect(builder, process, location);
    merge(sent_, sends);
    merge(received_, receives);
    sends.sort();
    receives.sort();
  }

 private:
  struct Operation {
    std::uint32_t channel = k_none;  ///< number
    NodeRef end;
    std::uint32_t length = 0;  ///< length_code()
  };
  /// An operation of a process with threads, with the stamp at which it was posted.
  struct Posted {
    Operation operation;
    std::uint64_t time = 0;
  };

  /// Merges operations of several threads by their common clock.
  static void merge(std::vector<Posted>& posted, Operations& to) {
    std::stable_sort(posted.begin(), posted.end(),
                     [](const Posted& a, const Posted& b) { return a.time < b.time; });
    for (const auto& [one, time] : posted) to.add(one.channel, one.end, one.length);
    free_memory(posted);
  }

  void collect(const Builder& builder, std::uint32_t process, LocationIndex location) {
    channel_of_form_.assign(builder.events(location).form_count(), k_unseen);
    for_operations(
        builder.events(location),
        [&](std::uint32_t i) {
          add_send(builder, process, {location, i});
        },
        [&](std::uint32_t i, std::uint32_t posted) {
          add_receive(builder, process, {location, i}, posted);
        },
        [&](bool send) { ++(send ? cancelled_sends : cancelled_receives); }, [](std::uint32_t) {});
  }

  void add_send(const Builder& builder, std::uint32_t process, EventRef at) {
    const Event event = builder.event(at);
    std::uint32_t& channel = channel_of(builder, at);
    if (channel == k_unseen) {
      const std::uint32_t peer = builder.process_of_peer(event.comm, process, event.peer);
      channel = peer == k_none ? k_none : sends.number_of({event.comm, process, peer, event.tag});
    }
    if (channel == k_none) {
      ++lost_sends;
    } else {
      add(sends, sent_, event.time, {channel, builder.ref(at), trace::length_code(event)});
    }
  }
  /// Adds a receive; call it in posting order per location. `posted`: index of the posting event.
  void add_receive(const Builder& builder, std::uint32_t process, EventRef end,
                   std::uint32_t posted) {
    const Event event = builder.event(end);
    std::uint32_t& channel = channel_of(builder, end);
    if (channel == k_unseen) {
      const std::uint32_t peer = builder.process_of_peer(event.comm, process, event.peer);
      channel =
          peer == k_none ? k_none : receives.number_of({event.comm, peer, process, event.tag});
    }
    if (channel == k_none) {
      ++lost_receives;
    } else {
      const std::uint64_t time = builder.events(end.location).time(posted);
      add(receives, received_, time, {channel, builder.ref(end), trace::length_code(event)});
    }
  }

  /// Channel number of an event's form; k_none: undefined process; k_unseen: not yet known.
  std::uint32_t& channel_of(const Builder& builder, EventRef at) {
    return channel_of_form_[builder.events(at.location).form(at.index)];
  }

  void add(Operations& operations, std::vector<Posted>& posted, std::uint64_t time,
           const Operation& one) const {
    if (several_) {
      posted.push_back({one, time});
    } else {
      operations.add(one.channel, one.end, one.length);
    }
  }

  static constexpr std::uint32_t k_unseen = k_none - 1;
  std::vector<std::uint32_t> channel_of_form_;  ///< channel numbers at the current location
  bool several_ = false;                        ///< the process has several locations
  std::vector<Posted> sent_, received_;
};

/// Collects sends and receives process by process, and pairs them channel by channel.
class MessageMatcher {
 public:
  explicit MessageMatcher(Builder& builder)
      : builder_(builder), threads_(builder.options().threads) {
    for (std::uint32_t p = 0; p < builder.processes().size(); ++p) {
      if (!builder.processes()[p].empty()) processes_.push_back(p);
    }
    messages_.resize(processes_.size());
  }

  void collect() {
    for_processes([&](std::size_t i) { messages_[i].collect(builder_, processes_[i]); });
  }

  /// Moves sends to the member that owns the receiver, channel by channel.
  void ship() {
    Team& team = builder_.team();
    std::vector<std::vector<std::uint32_t>> parcels(team.size());
    for (ProcessMessages& messages : messages_) {
      const std::span<const Channel> channels = messages.sends.channels();
      for (std::size_t c = 0; c < channels.size(); ++c) {
        const std::span<const NodeRef> sends = messages.sends.on(c);
        const std::uint32_t owner = builder_.owner_of_process(channels[c].receiver);
        if (owner == team.rank()) {
          sends_.insert(channels[c], {sends, messages.sends.lengths(c)});
          sent_ += sends.size();
        } else {
          pack(channels[c], {sends, messages.sends.lengths(c)}, parcels[owner]);
        }
      }
    }
    if (team.size() == 1) return;
    for (const std::vector<std::uint32_t>& parcel : exchange(team, std::move(parcels))) {
      unpack(parcel);
    }
  }

  /// True if every channel with receives has as many sends, of the same lengths in order, and no
  /// process has a gap that ends: then the k-th send belongs to the k-th receive. Channels without
  /// receives may have sends.
  bool complete() {
    bool all = !any_inner_gaps(builder_);
    for (const ProcessMessages& messages : messages_) {
      const std::span<const Channel> channels = messages.receives.channels();
      for (std::size_t c = 0; c < channels.size() && all; ++c) {
        const Sent* const sent = sends_.find(channels[c]);
        all = sent != nullptr && sent->ends.size() == messages.receives.on(c).size() &&
              sent->lengths == messages.receives.lengths(c);
      }
    }
    return !builder_.team().any(!all);
  }

  void pair() {
    const bool countable = builder_.countable(sent_);
    if (builder_.team().any(!countable)) return;
    builder_.incomplete = !complete();
    if (builder_.incomplete) {
      const MessageFates fates = match_incomplete_messages(builder_);
      count(fates.pairs);
      builder_.count_unmatched("ambiguous_receives", fates.ambiguous);
      builder_.count_unmatched("messages_in_gaps", fates.in_gaps);
      return;
    }
    std::vector<std::uint64_t> pairs(messages_.size(), 0);
    // Nodes of other members get local numbers, so this is serial.
    if (builder_.team().size() > 1) {
      for (std::size_t i = 0; i < messages_.size(); ++i) pairs[i] = pair(messages_[i], true);
    }
    for_processes([&](std::size_t i) { pairs[i] += pair(messages_[i], false); });
    count(std::accumulate(pairs.begin(), pairs.end(), std::uint64_t{0}));
  }

 private:
  /// Calls body(i) for every process of this member, in parallel.
  template <class Body>
  void for_processes(Body body) {
    for_each_in_parallel(threads_, processes_.size(), [&](std::size_t i) {
      if (!builder_.cancel().asked()) body(i);
    });
  }

  /// The sends of a channel, and the hash of their lengths.
  struct Sent {
    std::span<const NodeRef> ends;
    std::uint64_t lengths = 0;
  };

  static void pack(const Channel& key, const Sent& sent, std::vector<std::uint32_t>& parcel) {
    parcel.insert(
        parcel.end(),
        {key.comm, key.sender, key.receiver, key.tag, static_cast<std::uint32_t>(sent.ends.size()),
         static_cast<std::uint32_t>(sent.lengths >> 32), static_cast<std::uint32_t>(sent.lengths)});
    for (const NodeRef& send : sent.ends) parcel.insert(parcel.end(), {send.location, send.node});
  }
  void unpack(std::span<const std::uint32_t> parcel) {
    while (!parcel.empty()) {
      const std::size_t count = parcel[4];
      std::vector<NodeRef>& sends = unpacked_.emplace_back(count);
      for (std::size_t i = 0; i < count; ++i) {
        sends[i] = {parcel[7 + 2 * i], parcel[8 + 2 * i]};
      }
      sends_.insert({parcel[0], parcel[1], parcel[2], parcel[3]},
                    {sends, std::uint64_t{parcel[5]} << 32 | parcel[6]});
      sent_ += count;
      parcel = parcel.subspan(7 + 2 * count);
    }
  }

  /// Pairs the messages that a process received from this member's processes or (`of_others`) from
  /// those of others. Returns the number of pairs.
  std::uint64_t pair(ProcessMessages& messages, bool of_others) {
    std::uint64_t pairs = 0;
    const std::span<const Channel> channels = messages.receives.channels();
    for (std::size_t c = 0; c < channels.size(); ++c) {
      const bool other = builder_.owner_of_process(channels[c].sender) != builder_.team().rank();
      if (other != of_others) continue;
      const Sent* const sent = sends_.find(channels[c]);
      const std::span<const NodeRef> received = messages.receives.on(c);
      for (std::size_t k = 0; k < received.size(); ++k) {
        builder_.add_edge(EdgeKind::p2p, sent->ends[k], received[k]);
      }
      pairs += received.size();
    }
    return pairs;
  }

  void count(std::uint64_t pairs) {
    std::uint64_t lost_sends = sent_ - pairs, lost_receives = 0;
    std::uint64_t cancelled_sends = 0, cancelled_receives = 0;
    for (const ProcessMessages& messages : messages_) {
      lost_sends += messages.lost_sends;
      lost_receives += messages.lost_receives + messages.receives.count();
      cancelled_sends += messages.cancelled_sends;
      cancelled_receives += messages.cancelled_receives;
    }
    builder_.count_unmatched("sends", lost_sends);
    builder_.count_unmatched("receives", lost_receives - pairs);
    builder_.count_skipped("cancelled_sends", cancelled_sends);
    builder_.count_skipped("cancelled_receives", cancelled_receives);
  }

  Builder& builder_;
  unsigned threads_;
  std::vector<std::uint32_t> processes_;   ///< processes of this member
  std::vector<ProcessMessages> messages_;  ///< messages of these processes
  /// Sends to processes of this member, by channel; their number is sent_.
  FlatMap<Channel, Sent, ChannelHash> sends_;
  std::uint64_t sent_ = 0;
  std::deque<std::vector<NodeRef>> unpacked_;
};

}  // namespace

void match_messages(Builder& builder) {
  MessageMatcher matcher(builder);
  matcher.collect();
  matcher.ship();
  matcher.pair();
}

}  // namespace entrain::match
