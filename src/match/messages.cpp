// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "base/flat_map.hpp"
#include "match/builder.hpp"

namespace entrain::match {

namespace {

using trace::Event;
using trace::EventKind;

constexpr std::uint64_t k_poll = 1 << 20;  // pairs between two looks whether the user wants to stop

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

/// A send, or a completed receive at the place where it was posted.
struct Operation {
  std::uint32_t channel = 0;
  NodeRef end;  ///< of the send record, or of the completion of the receive
};

/// Sends of one process, with their stamps.
struct Sent {
  Operation operation;
  std::uint64_t time = 0;
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
        case EventKind::nb_complete: open_.erase(event.id); break;
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
        default: break;
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
  std::vector<std::uint32_t> fate_;
};

/// Collects sends and receives of all processes and pairs them channel by channel.
class MessageMatcher {
 public:
  explicit MessageMatcher(Builder& builder) : builder_(builder) {
    sends_.reserve(builder.message_counts().sends);
    receives_.reserve(builder.message_counts().receives);
  }

  void collect(std::uint32_t process) {
    sent_.clear();
    const auto& locations = builder_.processes()[process];
    for (const LocationIndex location : locations) collect_location(process, location);
    // The sends of threads merge in the order of their common clock.
    if (locations.size() > 1) {
      std::stable_sort(sent_.begin(), sent_.end(),
                       [](const Sent& a, const Sent& b) { return a.time < b.time; });
    }
    for (const Sent& one : sent_) sends_.push_back(one.operation);
  }

  /// Sends whose receiver another member has go there, channel by channel.
  void ship() {
    Team& team = builder_.team();
    if (team.size() == 1) return;
    const std::vector<std::uint32_t> begin = sort_by_channel(sends_);
    std::vector<std::vector<std::uint32_t>> parcels(team.size());
    BigVector<Operation> kept;
    for (std::size_t c = 0; c + 1 < begin.size(); ++c) {
      const std::span<const Operation> own(sends_.data() + begin[c], begin[c + 1] - begin[c]);
      if (own.empty()) continue;
      const Channel& key = keys_[c];
      const std::uint32_t owner = builder_.owner_of_process(key.receiver);
      if (owner == team.rank()) {
        kept.insert(kept.end(), own.begin(), own.end());
        continue;
      }
      std::vector<std::uint32_t>& parcel = parcels[owner];
      parcel.insert(parcel.end(), {key.comm, key.sender, key.receiver, key.tag,
                                   static_cast<std::uint32_t>(own.size())});
      for (const Operation& send : own) {
        parcel.insert(parcel.end(), {send.end.location, send.end.node});
      }
    }
    sends_.swap(kept);
    for (const std::vector<std::uint32_t>& parcel : exchange(team, std::move(parcels))) {
      unpack(parcel);
    }
  }

  void pair() {
    if (!builder_.countable(sends_.size())) return;
    std::uint64_t pairs = 0;
    const std::vector<std::uint32_t> send_begin = sort_by_channel(sends_);
    const std::vector<std::uint32_t> receive_begin = sort_by_channel(receives_);
    for (std::size_t c = 0; c + 1 < send_begin.size(); ++c) {
      const std::span<Operation> sent(sends_.data() + send_begin[c],
                                      send_begin[c + 1] - send_begin[c]);
      std::span<Operation> received(receives_.data() + receive_begin[c],
                                    receive_begin[c + 1] - receive_begin[c]);
      if (builder_.has_threads() && (by_several_threads(sent) || by_several_threads(received))) {
        received = in_doubt(keys_[c], sent.size(), received);
      }
      const std::size_t both = std::min(sent.size(), received.size());
      if ((pairs / k_poll != (pairs + both) / k_poll) && builder_.stopped()) return;
      pairs += both;
      for (std::size_t k = 0; k < both; ++k) {
        builder_.add_edge(EdgeKind::p2p, sent[k].end, received[k].end);
      }
      lost_sends_ += sent.size() - both;
      lost_receives_ += received.size() - both;
    }
    builder_.count_unmatched("sends", lost_sends_);
    builder_.count_unmatched("receives", lost_receives_);
    builder_.count_skipped("cancelled_sends", cancelled_sends_);
    builder_.count_skipped("cancelled_receives", cancelled_receives_);
  }

 private:
  void collect_location(std::uint32_t process, LocationIndex location) {
    const std::span<const Event> events = builder_.events(location);
    const Requests requests(events);
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      switch (events[i].kind) {
        case EventKind::send:
        case EventKind::isend:
          if (requests.cancelled(i)) {
            ++cancelled_sends_;
          } else {
            add_send(process, {location, i});
          }
          break;
        case EventKind::recv: add_receive(process, {location, i}); break;
        case EventKind::irecv:
          if (!requests.was_posted(i)) add_receive(process, {location, i});
          break;
        case EventKind::irecv_request:
          if (requests.cancelled(i)) {
            ++cancelled_receives_;
          } else if (requests.completion(i) != k_none) {
            add_receive(process, {location, requests.completion(i)});
          }
          break;
        default: break;
      }
    }
  }

  void add_send(std::uint32_t process, EventRef at) {
    const Event& event = builder_.event(at);
    const std::uint32_t peer = builder_.process_of_peer(event.comm, process, event.peer);
    if (peer == k_none) {
      ++lost_sends_;
      return;
    }
    sent_.push_back(
        {{channel({event.comm, process, peer, event.tag}), builder_.ref(at)}, event.time});
  }
  /// Called in the order in which the receives of a location were posted.
  void add_receive(std::uint32_t process, EventRef end) {
    const Event& event = builder_.event(end);
    const std::uint32_t peer = builder_.process_of_peer(event.comm, process, event.peer);
    if (peer == k_none) {
      ++lost_receives_;
      return;
    }
    receives_.push_back({channel({event.comm, peer, process, event.tag}), builder_.ref(end)});
  }

  static bool by_several_threads(std::span<const Operation> operations) {
    return std::any_of(operations.begin(), operations.end(), [&](const Operation& o) {
      return o.end.location != operations[0].end.location;
    });
  }

  /// Where threads share a side, nothing records whose operation came first. But whoever it was:
  /// if every message precedes its receive, then the k-th send in order of time precedes the k-th
  /// receive in order of time, and of more receives than sends the last ones are those for which
  /// this is certain. Returns the receives to be paired.
  std::span<Operation> in_doubt(const Channel& key, std::size_t sent,
                                std::span<Operation> received) {
    if (key.sender == key.receiver) {  // on one thread the stream would have to tell the order
      lost_receives_ += received.size();
      return {};
    }
    std::stable_sort(received.begin(), received.end(), [&](const Operation& a, const Operation& b) {
      return builder_.stamp(a.end) < builder_.stamp(b.end);
    });
    const std::size_t surplus = received.size() - std::min(received.size(), sent);
    lost_receives_ += surplus;
    return received.subspan(surplus);
  }

  std::uint32_t channel(const Channel& key) {
    const auto [number, is_new] = channels_.insert(key, static_cast<std::uint32_t>(keys_.size()));
    if (is_new) keys_.push_back(key);
    return *number;
  }

  void unpack(std::span<const std::uint32_t> parcel) {
    while (!parcel.empty()) {
      const std::uint32_t number = channel({parcel[0], parcel[1], parcel[2], parcel[3]});
      const std::size_t count = parcel[4];
      for (std::size_t i = 0; i < count; ++i) {
        sends_.push_back({number, {parcel[5 + 2 * i], parcel[6 + 2 * i]}});
      }
      parcel = parcel.subspan(5 + 2 * count);
    }
  }

  /// Stable counting sort; returns where each channel begins, and the end.
  std::vector<std::uint32_t> sort_by_channel(BigVector<Operation>& operations) const {
    std::vector<std::uint32_t> begin(keys_.size() + 1, 0);
    for (const Operation& operation : operations) ++begin[operation.channel + 1];
    for (std::size_t c = 1; c < begin.size(); ++c) begin[c] += begin[c - 1];
    std::vector<std::uint32_t> next(begin.begin(), begin.end());
    BigVector<Operation> sorted(operations.size());
    for (const Operation& operation : operations) sorted[next[operation.channel]++] = operation;
    operations.swap(sorted);
    return begin;
  }

  Builder& builder_;
  FlatMap<Channel, std::uint32_t, ChannelHash> channels_;
  std::vector<Channel> keys_;  ///< by number
  BigVector<Operation> sends_, receives_;
  std::vector<Sent> sent_;  ///< by the process in work
  std::uint64_t lost_sends_ = 0, lost_receives_ = 0;
  std::uint64_t cancelled_sends_ = 0, cancelled_receives_ = 0;
};

}  // namespace

void match_messages(Builder& builder) {
  MessageMatcher matcher(builder);
  for (std::uint32_t p = 0; p < builder.processes().size() && !builder.stopped(); ++p) {
    matcher.collect(p);
  }
  matcher.ship();
  matcher.pair();
}

}  // namespace entrain::match
