// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "base/flat_map.hpp"
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

/// A send, or the place where a receive was posted together with its completion.
struct Operation {
  std::uint32_t channel = 0;
  EventRef end;  ///< the send record, or the record of the completed receive
};

/// Requests of one location: which receive a posted request ended as, what was cancelled.
class Requests {
 public:
  explicit Requests(std::span<const Event> events) : fate_(events.size(), k_none) {
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      const Event& event = events[i];
      switch (event.kind) {
        case EventKind::isend:
        case EventKind::irecv_request:
          *open_.insert(event.id, i).first = i;
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
  explicit MessageMatcher(Builder& builder) : builder_(builder) {}

  void collect(std::uint32_t process) {
    const auto& locations = builder_.processes()[process];
    if (locations.size() == 1) {
      collect_location(process, locations[0], sends_, receives_);
      return;
    }
    // Threads of one process share its channels: merge in the order of their common clock. An
    // operation counts from the record at which it was started.
    std::vector<Operation> sends, receives;
    for (const LocationIndex location : locations) {
      collect_location(process, location, sends, receives);
    }
    append_in_order(sends, send_starts_, sends_);
    append_in_order(receives, receive_starts_, receives_);
    send_starts_.clear();
    receive_starts_.clear();
  }

  void pair() {
    const std::vector<std::uint32_t> send_begin = sort_by_channel(sends_);
    const std::vector<std::uint32_t> receive_begin = sort_by_channel(receives_);
    std::uint64_t lost_sends = 0, lost_receives = 0;
    for (std::size_t c = 0; c + 1 < send_begin.size(); ++c) {
      const std::uint32_t sent = send_begin[c + 1] - send_begin[c];
      const std::uint32_t received = receive_begin[c + 1] - receive_begin[c];
      const std::uint32_t both = std::min(sent, received);
      for (std::uint32_t k = 0; k < both; ++k) {
        builder_.add_edge(EdgeKind::p2p, sends_[send_begin[c] + k].end,
                          receives_[receive_begin[c] + k].end);
      }
      lost_sends += sent - both;
      lost_receives += received - both;
    }
    builder_.count_unmatched("sends", lost_sends + unresolved_sends_);
    builder_.count_unmatched("receives", lost_receives + unresolved_receives_);
    builder_.count_skipped("cancelled_sends", cancelled_sends_);
    builder_.count_skipped("cancelled_receives", cancelled_receives_);
  }

 private:
  void collect_location(std::uint32_t process, LocationIndex location,
                        std::vector<Operation>& sends, std::vector<Operation>& receives) {
    const std::span<const Event> events = builder_.events(location);
    const Requests requests(events);
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      switch (events[i].kind) {
        case EventKind::send:
        case EventKind::isend:
          if (requests.cancelled(i)) {
            ++cancelled_sends_;
          } else {
            add_send(process, {location, i}, sends);
          }
          break;
        case EventKind::recv: add_receive(process, {location, i}, {location, i}, receives); break;
        case EventKind::irecv:
          if (!requests.was_posted(i)) {
            add_receive(process, {location, i}, {location, i}, receives);
          }
          break;
        case EventKind::irecv_request:
          if (requests.cancelled(i)) {
            ++cancelled_receives_;
          } else if (requests.completion(i) != k_none) {
            add_receive(process, {location, i}, {location, requests.completion(i)}, receives);
          }
          break;
        default: break;
      }
    }
  }

  void add_send(std::uint32_t process, EventRef at, std::vector<Operation>& sends) {
    const Event& event = builder_.event(at);
    const std::uint32_t peer = builder_.process_of_peer(event.comm, process, event.peer);
    if (peer == k_none) {
      ++unresolved_sends_;
      return;
    }
    sends.push_back({channel({event.comm, process, peer, event.tag}), at});
    if (&sends != &sends_) send_starts_.push_back(at);
  }
  void add_receive(std::uint32_t process, EventRef start, EventRef end,
                   std::vector<Operation>& receives) {
    const Event& event = builder_.event(end);
    const std::uint32_t peer = builder_.process_of_peer(event.comm, process, event.peer);
    if (peer == k_none) {
      ++unresolved_receives_;
      return;
    }
    receives.push_back({channel({event.comm, peer, process, event.tag}), end});
    if (&receives != &receives_) receive_starts_.push_back(start);
  }

  std::uint32_t channel(const Channel& key) {
    return *channels_.insert(key, static_cast<std::uint32_t>(channels_.size())).first;
  }

  /// Appends operations in process order of their start records.
  void append_in_order(const std::vector<Operation>& operations,
                       const std::vector<EventRef>& starts, std::vector<Operation>& target) {
    std::vector<std::uint32_t> order(operations.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return builder_.event(starts[a]).time < builder_.event(starts[b]).time;
    });
    for (const std::uint32_t i : order) target.push_back(operations[i]);
  }

  /// Stable counting sort; returns where each channel begins, and the end.
  std::vector<std::uint32_t> sort_by_channel(std::vector<Operation>& operations) const {
    std::vector<std::uint32_t> begin(channels_.size() + 1, 0);
    for (const Operation& operation : operations) ++begin[operation.channel + 1];
    for (std::size_t c = 1; c < begin.size(); ++c) begin[c] += begin[c - 1];
    std::vector<std::uint32_t> next(begin.begin(), begin.end());
    std::vector<Operation> sorted(operations.size());
    for (const Operation& operation : operations) sorted[next[operation.channel]++] = operation;
    operations.swap(sorted);
    return begin;
  }

  Builder& builder_;
  FlatMap<Channel, std::uint32_t, ChannelHash> channels_;
  std::vector<Operation> sends_, receives_;
  std::vector<EventRef> send_starts_, receive_starts_;
  std::uint64_t unresolved_sends_ = 0, unresolved_receives_ = 0;
  std::uint64_t cancelled_sends_ = 0, cancelled_receives_ = 0;
};

}  // namespace

void match_messages(Builder& builder) {
  MessageMatcher matcher(builder);
  for (std::uint32_t p = 0; p < builder.processes().size(); ++p) matcher.collect(p);
  matcher.pair();
}

}  // namespace entrain::match
