// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace entrain::net {

/// Kinds of events. Events of the same instant happen in the order of their kinds.
enum class EventKind : std::uint32_t {
  depart,  ///< the first flit of an input buffer leaves for the router's output
  arrive,  ///< a flit reaches an input buffer
  signal,  ///< a STOP or GO takes effect at the sender of a channel
  inject,  ///< a flit of an interface is due
};

/// An instant and what happens: `id` is a channel, or the interface of an inject.
struct Event {
  std::int64_t time_fs;
  std::uint64_t key;

  Event(std::int64_t time, EventKind kind, std::uint32_t id)
      : time_fs(time), key((static_cast<std::uint64_t>(kind) << 32) | id) {}
  [[nodiscard]] EventKind kind() const { return static_cast<EventKind>(key >> 32); }
  [[nodiscard]] std::uint32_t id() const { return static_cast<std::uint32_t>(key); }
  [[nodiscard]] bool before(const Event& other) const {
    return time_fs != other.time_fs ? time_fs < other.time_fs : key < other.key;
  }
};

/// Events ordered by time, kind and id. The order does not depend on when they were added, so
/// leaving events out (skipping) does not change the order of the others. A heap with four children
/// per node: half the levels of a binary heap, and siblings share a cache line.
class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] const Event& top() const { return heap_.front(); }

  void push(Event event) {
    std::size_t hole = heap_.size();
    heap_.push_back(event);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / 4;
      if (!event.before(heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = event;
  }

  void pop() {
    const Event last = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    if (size == 0) return;
    std::size_t hole = 0;
    for (std::size_t child = 1; child < size; child = 4 * hole + 1) {
      const std::size_t end = child + 4 < size ? child + 4 : size;
      std::size_t least = child;
      for (++child; child < end; ++child) {
        if (heap_[child].before(heap_[least])) least = child;
      }
      if (!heap_[least].before(last)) break;
      heap_[hole] = heap_[least];
      hole = least;
    }
    heap_[hole] = last;
  }

 private:
  std::vector<Event> heap_;
};

}  // namespace entrain::net
