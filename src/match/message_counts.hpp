// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "match/call_tree.hpp"
#include "match/channel_sides.hpp"

namespace entrain::match {

/// Counts the messages of a process per partner, by the stamps of their posting. Messages that its
/// routine misses count as well.
class MessageCounts {
 public:
  MessageCounts() = default;
  explicit MessageCounts(std::map<std::uint32_t, std::vector<std::uint64_t>> stamps)
      : stamps_(std::move(stamps)) {}

  [[nodiscard]] std::vector<Partner> partners() const {
    std::vector<Partner> partners;
    for (const auto& [peer, stamps] : stamps_) {
      partners.push_back({peer, static_cast<std::uint32_t>(stamps.size())});
    }
    return partners;
  }
  [[nodiscard]] std::uint32_t count_with(std::uint32_t peer) const {
    const auto found = stamps_.find(peer);
    return found == stamps_.end() ? 0 : static_cast<std::uint32_t>(found->second.size());
  }
  /// Number of messages with a partner that were posted up to a stamp.
  [[nodiscard]] std::uint32_t count_until(std::uint32_t peer, std::uint64_t time) const {
    const auto found = stamps_.find(peer);
    if (found == stamps_.end()) return 0;
    const auto& stamps = found->second;
    return static_cast<std::uint32_t>(std::upper_bound(stamps.begin(), stamps.end(), time) -
                                      stamps.begin());
  }

 private:
  std::map<std::uint32_t, std::vector<std::uint64_t>> stamps_;  ///< sorted stamps per partner
};

/// Latest send time, per sender, among the messages that a process had received at a time.
class ReceivedBefore {
 public:
  /// Adds a message of `peer`; each time is of the clock of its side. Call before settle().
  void add(std::uint32_t peer, std::uint64_t received, std::uint64_t sent) {
    messages_[peer].push_back({received, sent});
  }
  void settle() {
    for (auto& [peer, messages] : messages_) {
      std::sort(messages.begin(), messages.end());
      std::uint64_t latest = 0;
      for (auto& [received, sent] : messages) sent = latest = std::max(latest, sent);
    }
  }
  /// Latest send time of a message of `peer` received by `time`; 0: none. O(log n).
  [[nodiscard]] std::uint64_t latest(std::uint32_t peer, std::uint64_t time) const {
    const auto found = messages_.find(peer);
    if (found == messages_.end()) return 0;
    const auto& messages = found->second;
    const auto later =
        std::upper_bound(messages.begin(), messages.end(), time,
                         [](std::uint64_t t, const auto& message) { return t < message.first; });
    return later == messages.begin() ? 0 : std::prev(later)->second;
  }

 private:
  std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> messages_;
};

/// Evidence for the pairing of a process's collective calls that its messages give.
struct CallContext {
  MessageCounts messages;
  ReceivedBefore received_before;
  bool has_routine = false;
  std::map<std::uint32_t, ChannelSide> calls;                         ///< see ProcessSides
  std::map<std::uint32_t, std::vector<std::uint64_t>> missing_calls;  ///< see ProcessSides
};

/// Moves the context of a process's calls out of its channel sides.
inline CallContext take_call_context(ProcessSides& sides) {
  return {.messages = MessageCounts(std::move(sides.posted)),
          .received_before = {},
          .has_routine = sides.has_routine,
          .calls = std::move(sides.calls),
          .missing_calls = std::move(sides.missing_calls)};
}

/// Contexts of the calls of this member's processes.
struct CallContexts {
  std::map<std::uint32_t, CallContext> by_process;
};

}  // namespace entrain::match
