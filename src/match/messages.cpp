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

namespace entrain::match {

namespace {

using trace::Event;
using trace::EventKind;

/// Messages of one channel do not overtake each other.
struct Channel {
  CommIndex comm = k_none;
  std::uint32_t sender = k_none;    ///< process
  std::uint32_t receiver = k_none;  ///< process
  std::uint32_t tag = 0;
  friend bool operator==(const Channel&, const Channel&) = default;
};
struct ChannelHash {
  std::uint64_t operator()(const Channel& c) const {
    return mix(mix(static_cast<std::uint64_t>(c.comm) << 32 | c.tag) ^
               (static_cast<std::uint64_t>(c.sender) << 32 | c.receiver));
  }
};

/// Operations of one kind of one process, channel by channel: sends, or completed receives at the
/// places where they were posted.
class Operations {
 public:
  void reserve(std::size_t count) { unsorted_.reserve(count); }
  /// `end` is the node of the send record, or of the completion of the receive.
  void add(const Channel& channel, NodeRef end) {
    // Most are on the channel of one of the last few.
    std::uint32_t& recent =
        recent_[(channel.sender + channel.receiver + channel.tag) % recent_.size()];
    if (recent >= keys_.size() || !(keys_[recent] == channel)) {
      const auto next = static_cast<std::uint32_t>(keys_.size());
      const auto [number, is_new] = numbers_.insert(channel, next);
      if (is_new) keys_.push_back(channel);
      recent = *number;
    }
    unsorted_.push_back({recent, end});
  }
  void sort() {
    begin_.assign(keys_.size() + 1, 0);
    for (const Numbered& one : unsorted_) ++begin_[one.channel + 1];
    for (std::size_t c = 1; c < begin_.size(); ++c) begin_[c] += begin_[c - 1];
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end());
    ends_.resize(unsorted_.size());
    for (const Numbered& one : unsorted_) ends_[next[one.channel]++] = one.end;
    free_memory(unsorted_);
    numbers_ = {};
  }

  // After sort().
  [[nodiscard]] std::size_t count() const { return ends_.size(); }
  [[nodiscard]] std::span<const Channel> channels() const { return keys_; }
  /// The operations on channel number c, in order.
  [[nodiscard]] std::span<const NodeRef> on(std::size_t c) const {
    return {ends_.data() + begin_[c], begin_[c + 1] - begin_[c]};
  }

 private:
  struct Numbered {
    std::uint32_t channel = 0;
    NodeRef end;
  };

  std::vector<Channel> keys_;  ///< by number
  FlatMap<Channel, std::uint32_t, ChannelHash> numbers_;
  std::array<std::uint32_t, 16> recent_{};  ///< numbers, by some bits of the channel
  BigVector<Numbered> unsorted_;
  std::vector<std::uint32_t> begin_;  ///< per channel, and the end
  BigVector<NodeRef> ends_;
};

/// Requests of one location: which receive a posted request ended as, what was cancelled. All
/// non-blocking operations share the ids; an id means its latest use.
class Requests {
 public:
  explicit Requests(std::span<const Event> events) : fate_(events.size(), k_none) {
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      const Event& event = events[i];
      switch (event.kind) {
        case EventKind::isend:
        case EventKind::irecv_request:
        case EventKind::nb_request:
          *open_.insert(event.id, i).first = i;
          break;
        case EventKind::nb_complete:
          open_.erase(event.id);
          break;
        case EventKind::irecv:
          if (const std::uint32_t* posted = posted_receive(events, event.id)) {
            fate_[*posted] = i;
            fate_[i] = k_posted;
            open_.erase(event.id);
          }
          break;
        case EventKind::request_cancelled:
          if (const std::uint32_t* started = open_.find(event.id)) {
            fate_[*started] = k_cancelled;
            open_.erase(event.id);
          }
          break;
        default:
          break;
      }
    }
  }

  [[nodiscard]] bool cancelled(std::uint32_t i) const { return fate_[i] == k_cancelled; }
  /// Index of the completion of the receive request at i, or k_none.
  [[nodiscard]] std::uint32_t completion(std::uint32_t i) const { return fate_[i]; }
  /// True if the completed receive at i was posted by a request record.
  [[nodiscard]] bool was_posted(std::uint32_t i) const { return fate_[i] == k_posted; }

 private:
  static constexpr std::uint32_t k_cancelled = k_none - 1;
  static constexpr std::uint32_t k_posted = k_none - 2;

  const std::uint32_t* posted_receive(std::span<const Event> events, std::uint64_t id) {
    const std::uint32_t* found = open_.find(id);
    return found != nullptr && events[*found].kind == EventKind::irecv_request ? found : nullptr;
  }

  FlatMap<std::uint64_t, std::uint32_t, IntegerHash> open_;
  BigVector<std::uint32_t> fate_;
};

/// The messages of one process.
class ProcessMessages {
 public:
  Operations sends, receives;
  std::uint64_t lost_sends = 0, lost_receives = 0;  ///< to or from nobody
  std::uint64_t cancelled_sends = 0, cancelled_receives = 0;

  void collect(const Builder& builder, std::uint32_t process) {
    const auto& locations = builder.processes()[process];
    several_ = locations.size() > 1;
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
  /// An operation of a process with threads, with the stamp at which it was posted.
  struct Posted {
    Channel channel;
    NodeRef end;
    std::uint64_t time = 0;
  };

  /// Operations of several threads merge in the order of their common clock.
  static void merge(std::vector<Posted>& posted, Operations& to) {
    std::stable_sort(posted.begin(), posted.end(),
                     [](const Posted& a, const Posted& b) { return a.time < b.time; });
    for (const Posted& one : posted) to.add(one.channel, one.end);
    free_memory(posted);
  }

  void collect(const Builder& builder, std::uint32_t process, LocationIndex location) {
    const std::span<const Event> events = builder.events(location);
    const Requests requests(events);
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      switch (events[i].kind) {
        case EventKind::send:
        case EventKind::isend:
          if (requests.cancelled(i)) {
            ++cancelled_sends;
          } else {
            add_send(builder, process, {location, i});
          }
          break;
        case EventKind::recv:
          add_receive(builder, process, {location, i}, i);
          break;
        case EventKind::irecv:
          if (!requests.was_posted(i)) add_receive(builder, process, {location, i}, i);
          break;
        case EventKind::irecv_request:
          if (requests.cancelled(i)) {
            ++cancelled_receives;
          } else if (requests.completion(i) != k_none) {
            add_receive(builder, process, {location, requests.completion(i)}, i);
          }
          break;
        default:
          break;
      }
    }
  }

  void add_send(const Builder& builder, std::uint32_t process, EventRef at) {
    const Event& event = builder.event(at);
    const std::uint32_t peer = builder.process_of_peer(event.comm, process, event.peer);
    const Channel channel{event.comm, process, peer, event.tag};
    if (peer == k_none) {
      ++lost_sends;
    } else if (several_) {
      sent_.push_back({channel, builder.ref(at), event.time});
    } else {
      sends.add(channel, builder.ref(at));
    }
  }
  /// Called in the order in which the receives of a location were posted; `posted` is the index of
  /// the event that did it.
  void add_receive(const Builder& builder, std::uint32_t process, EventRef end,
                   std::uint32_t posted) {
    const Event& event = builder.event(end);
    const std::uint32_t peer = builder.process_of_peer(event.comm, process, event.peer);
    const Channel channel{event.comm, peer, process, event.tag};
    if (peer == k_none) {
      ++lost_receives;
    } else if (several_) {
      received_.push_back({channel, builder.ref(end), builder.event({end.location, posted}).time});
    } else {
      receives.add(channel, builder.ref(end));
    }
  }

  bool several_ = false;  ///< locations
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
          sends_.insert(channels[c], sends);
          sent_ += sends.size();
        } else {
          pack(channels[c], sends, parcels[owner]);
        }
      }
    }
    if (team.size() == 1) return;
    for (const std::vector<std::uint32_t>& parcel : exchange(team, std::move(parcels))) {
      unpack(parcel);
    }
  }

  void pair() {
    if (!builder_.countable(sent_)) return;
    std::vector<std::uint64_t> pairs(messages_.size(), 0);
    // Nodes of other members get numbers here, one after the other.
    if (builder_.team().size() > 1) {
      for (std::size_t i = 0; i < messages_.size(); ++i) pairs[i] = pair(messages_[i], true);
    }
    for_processes([&](std::size_t i) { pairs[i] += pair(messages_[i], false); });
    count(std::accumulate(pairs.begin(), pairs.end(), std::uint64_t{0}));
  }

 private:
  /// Calls body(i) for every process of this member, for several at the same time.
  template <class Body>
  void for_processes(Body body) {
    for_each_in_parallel(threads_, processes_.size(), [&](std::size_t i) {
      if (!builder_.cancel().asked()) body(i);
    });
  }

  static void pack(const Channel& key, std::span<const NodeRef> sends,
                   std::vector<std::uint32_t>& parcel) {
    parcel.insert(parcel.end(), {key.comm, key.sender, key.receiver, key.tag,
                                 static_cast<std::uint32_t>(sends.size())});
    for (const NodeRef& send : sends) parcel.insert(parcel.end(), {send.location, send.node});
  }
  void unpack(std::span<const std::uint32_t> parcel) {
    while (!parcel.empty()) {
      const std::size_t count = parcel[4];
      std::vector<NodeRef>& sends = unpacked_.emplace_back(count);
      for (std::size_t i = 0; i < count; ++i) {
        sends[i] = {parcel[5 + 2 * i], parcel[6 + 2 * i]};
      }
      sends_.insert({parcel[0], parcel[1], parcel[2], parcel[3]}, sends);
      sent_ += count;
      parcel = parcel.subspan(5 + 2 * count);
    }
  }

  /// Pairs what a process has received from processes of this member, or from those of others.
  /// Returns the number of pairs.
  std::uint64_t pair(ProcessMessages& messages, bool of_others) {
    std::uint64_t pairs = 0;
    const std::span<const Channel> channels = messages.receives.channels();
    for (std::size_t c = 0; c < channels.size(); ++c) {
      const bool other = builder_.owner_of_process(channels[c].sender) != builder_.team().rank();
      if (other != of_others) continue;
      const std::span<const NodeRef>* const sent = sends_.find(channels[c]);
      if (sent == nullptr) continue;
      const std::span<const NodeRef> received = messages.receives.on(c);
      const std::size_t both = std::min(sent->size(), received.size());
      for (std::size_t k = 0; k < both; ++k) {
        builder_.add_edge(EdgeKind::p2p, (*sent)[k], received[k]);
      }
      pairs += both;
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
  std::vector<std::uint32_t> processes_;   ///< of this member
  std::vector<ProcessMessages> messages_;  ///< of these
  /// Sends to processes of this member, by channel, and their number.
  FlatMap<Channel, std::span<const NodeRef>, ChannelHash> sends_;
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
