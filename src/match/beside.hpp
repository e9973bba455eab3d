// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "match/call_tree.hpp"
#include "match/sides.hpp"

namespace entrain::match {

/// When a process posted its messages, per partner. Those that its routine misses count as well.
class MessageTimes {
 public:
  MessageTimes() = default;
  /// As ProcessSides::posted.
  explicit MessageTimes(std::map<std::uint32_t, std::vector<std::uint64_t>> stamps)
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
  /// Of a stamp: the messages with a partner up to it.
  [[nodiscard]] std::uint32_t count_until(std::uint32_t peer, std::uint64_t time) const {
    const auto found = stamps_.find(peer);
    if (found == stamps_.end()) return 0;
    const auto& stamps = found->second;
    return static_cast<std::uint32_t>(std::upper_bound(stamps.begin(), stamps.end(), time) -
                                      stamps.begin());
  }

 private:
  std::map<std::uint32_t, std::vector<std::uint64_t>> stamps_;  ///< per process
};

/// What a process had received of others at a time.
class Heard {
 public:
  /// A message of `peer`, by the clock of each side. Not to be called after settle().
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
  /// When the latest of those messages was sent that had come by `time`; 0: none had. O(log n).
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

/// What is known of a process that calls, beside its calls.
struct Beside {
  MessageTimes messages;
  Heard heard;
  bool has_routine = false;
  std::map<std::uint32_t, ChannelSide> calls;                         ///< as in ProcessSides
  std::map<std::uint32_t, std::vector<std::uint64_t>> missing_calls;  ///< the same
};

/// Takes from the sides of a process what its calls are paired by.
inline Beside take_beside(ProcessSides& sides) {
  return {.messages = MessageTimes(std::move(sides.posted)),
          .heard = {},
          .has_routine = sides.has_routine,
          .calls = std::move(sides.calls),
          .missing_calls = std::move(sides.missing_calls)};
}

/// What pairing messages found out of processes of this member, for the pairing of their calls.
struct ProcessesBeside {
  std::map<std::uint32_t, Beside> of;  ///< by process
};

}  // namespace entrain::match
