// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "match/call_tree.hpp"
#include "match/channel_sides.hpp"

namespace entrain::match {

/// Number of elements of a sorted list up to a value. Fast if values rise from call to call.
template <class T, class Value>
class RankFinder {
 public:
  /// `value`: of an element.
  RankFinder(const std::vector<T>& sorted, Value value) : sorted_(sorted), value_(value) {}

  std::size_t operator()(std::uint64_t most) {
    const auto is_within = [&](const T& one) { return value_(one) <= most; };
    if (rank_ > 0 && !is_within(sorted_[rank_ - 1])) {
      rank_ = static_cast<std::size_t>(
          std::partition_point(sorted_.begin(), sorted_.end(), is_within) - sorted_.begin());
    }
    while (rank_ < sorted_.size() && is_within(sorted_[rank_])) ++rank_;
    return rank_;
  }

 private:
  const std::vector<T>& sorted_;
  Value value_;
  std::size_t rank_ = 0;
};

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
  /// Returns a function: the number of messages with a partner that were posted up to a stamp.
  [[nodiscard]] auto counter(std::uint32_t peer) const {
    static const std::vector<std::uint64_t> none;
    const auto found = stamps_.find(peer);
    return RankFinder(found == stamps_.end() ? none : found->second, std::identity());
  }

 private:
  std::map<std::uint32_t, std::vector<std::uint64_t>> stamps_;  ///< sorted stamps per partner
};

/// Sorts a list that consists of a few sorted runs by merging these. O(n log runs).
template <class T>
void sort_runs(std::vector<T>& list) {
  std::vector<std::ptrdiff_t> begins = {0};
  for (std::size_t i = 1; i < list.size(); ++i) {
    if (list[i] < list[i - 1]) begins.push_back(static_cast<std::ptrdiff_t>(i));
  }
  constexpr std::size_t k_least = 64;  ///< shorter runs are sorted faster; chosen, not measured
  if (begins.size() * k_least > list.size()) return std::sort(list.begin(), list.end());
  while (begins.size() > 1) {
    std::vector<std::ptrdiff_t> next;
    for (std::size_t i = 0; i < begins.size(); i += 2) {
      next.push_back(begins[i]);
      if (i + 1 == begins.size()) break;
      const auto end = i + 2 < begins.size() ? list.begin() + begins[i + 2] : list.end();
      std::inplace_merge(list.begin() + begins[i], list.begin() + begins[i + 1], end);
    }
    begins = std::move(next);
  }
}

/// Latest send time, per sender, among the messages that a process had received at a time.
class ReceivedBefore {
 public:
  using Messages = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  ///< (received, sent)

  /// The messages of `peer`, to be filled before settle(); each time is of the clock of its side.
  Messages& from(std::uint32_t peer) { return messages_[peer]; }
  void settle() {
    for (auto& [peer, messages] : messages_) {
      sort_runs(messages);
      std::uint64_t latest = 0;
      for (auto& [received, sent] : messages) sent = latest = std::max(latest, sent);
    }
  }
  /// Returns a function: the latest send time of a message of `peer` received by a time; 0: none.
  [[nodiscard]] auto latest(std::uint32_t peer) const {
    static const Messages none;
    const auto found = messages_.find(peer);
    const Messages& messages = found == messages_.end() ? none : found->second;
    return [&messages, rank = RankFinder(messages, [](const auto& message) {
                         return message.first;
                       })](std::uint64_t time) mutable -> std::uint64_t {
      const std::size_t received = rank(time);
      return received == 0 ? 0 : messages[received - 1].second;
    };
  }

 private:
  std::map<std::uint32_t, Messages> messages_;
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
