// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/flat_map.hpp"
#include "base/free_memory.hpp"
#include "match/builder.hpp"

namespace entrain::match {

/// Channel of messages, which do not overtake each other.
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

/// Sends of one process, or its completed receives in posting order, by channel.
class Operations {
 public:
  void reserve(std::size_t count) { unsorted_.reserve(count); }
  /// Adds an operation. `channel`: number; `end`: node of the send, or of the completion of the
  /// receive; `length`: length_code() of the message.
  void add(std::uint32_t channel, NodeRef end, std::uint32_t length) {
    unsorted_.push_back({channel, end});
    lengths_[channel] = (lengths_[channel] ^ length) * 0x9E3779B97F4A7C15u;
  }
  /// Returns the number of a channel; numbers follow the order of first calls.
  std::uint32_t number_of(const Channel& channel) {
    const auto next = static_cast<std::uint32_t>(keys_.size());
    const auto [number, is_new] = numbers_.insert(channel, next);
    if (is_new) {
      keys_.push_back(channel);
      lengths_.push_back(0);
    }
    return *number;
  }
  void sort() {
    begin_.assign(keys_.size() + 1, 0);
    for (const Entry& one : unsorted_) ++begin_[one.channel + 1];
    for (std::size_t c = 1; c < begin_.size(); ++c) begin_[c] += begin_[c - 1];
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end());
    ends_.resize(unsorted_.size());
    for (const Entry& one : unsorted_) ends_[next[one.channel]++] = one.end;
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
  /// Hash of the sequence of message lengths on channel number c.
  [[nodiscard]] std::uint64_t lengths(std::size_t c) const { return lengths_[c]; }

 private:
  struct Entry {
    std::uint32_t channel = 0;
    NodeRef end;
  };

  std::vector<Channel> keys_;  ///< sorted by number
  FlatMap<Channel, std::uint32_t, ChannelHash> numbers_;
  BigVector<Entry> unsorted_;
  std::vector<std::uint32_t> begin_;  ///< first operation per channel, and the end
  BigVector<NodeRef> ends_;
  std::vector<std::uint64_t> lengths_;  ///< one per channel
};

/// Requests of one location, with their completion or cancellation. All non-blocking operations
/// share the ids; an id means its latest use.
class Requests {
 public:
  explicit Requests(const trace::EventList& events) : fate_(events.size(), k_none) {
    // Only cancellations need isends, of which a location may have millions.
    bool any_cancelled = false;
    for (std::uint32_t i = 0; i < events.size() && !any_cancelled; ++i) {
      any_cancelled = events.kind(i) == trace::EventKind::request_cancelled;
    }
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      const trace::Event& event = events[i];
      switch (event.kind) {
        case trace::EventKind::isend:
          if (any_cancelled) {
            *open_.insert(event.id, i).first = i;
          } else {
            open_.erase(event.id);
          }
          break;
        case trace::EventKind::irecv_request:
        case trace::EventKind::nb_request:
          *open_.insert(event.id, i).first = i;
          break;
        case trace::EventKind::nb_complete:
          open_.erase(event.id);
          break;
        case trace::EventKind::irecv:
          if (const std::uint32_t* posted = posted_receive(events, event.id)) {
            fate_[*posted] = i;
            fate_[i] = k_posted;
            open_.erase(event.id);
          }
          break;
        case trace::EventKind::request_cancelled:
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

  const std::uint32_t* posted_receive(const trace::EventList& events, std::uint64_t id) {
    const std::uint32_t* found = open_.find(id);
    return found != nullptr && events.kind(*found) == trace::EventKind::irecv_request ? found
                                                                                      : nullptr;
  }

  FlatMap<std::uint64_t, std::uint32_t, IntegerHash> open_;
  BigVector<std::uint32_t> fate_;
};

/// Calls `send(i)` for every send of a location that was not cancelled, `receive(i, posted)` for
/// every completed receive with the event that posted it, in the order in which they were posted.
/// `cancelled(is_send)` for the others, and `call(i)` for every end of a blocking collective call.
template <class Send, class Receive, class Cancelled, class Call>
void for_operations(const trace::EventList& events, Send send, Receive receive, Cancelled cancelled,
                    Call call) {
  using trace::EventKind;
  const Requests requests(events);
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    switch (events.kind(i)) {
      case EventKind::send:
      case EventKind::isend:
        if (requests.cancelled(i)) {
          cancelled(true);
        } else {
          send(i);
        }
        break;
      case EventKind::recv:
        receive(i, i);
        break;
      case EventKind::irecv:
        if (!requests.was_posted(i)) receive(i, i);
        break;
      case EventKind::irecv_request:
        if (requests.cancelled(i)) {
          cancelled(false);
        } else if (requests.completion(i) != k_none) {
          receive(requests.completion(i), i);
        }
        break;
      case EventKind::collective_end:
      case EventKind::rma_collective_end:
        call(i);
        break;
      default:
        break;
    }
  }
}

}  // namespace entrain::match
