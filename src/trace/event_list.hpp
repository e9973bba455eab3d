// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <vector>

#include "base/big_vector.hpp"
#include "base/flat_map.hpp"
#include "trace/event.hpp"

namespace entrain::trace {

/// A set of kinds, one bit each.
constexpr std::uint64_t kind_set(std::initializer_list<EventKind> kinds) {
  std::uint64_t set = 0;
  for (const EventKind kind : kinds) set |= std::uint64_t{1} << static_cast<unsigned>(kind);
  return set;
}
constexpr bool contains(std::uint64_t set, EventKind kind) {
  return (set >> static_cast<unsigned>(kind) & 1) != 0;
}

/// The communication events of a location, in 16 bytes each: the stamp, one number that changes
/// from event to event (the *detail*), and the number of a *form*, which has all other fields. A
/// program repeats its operations, so a location has few forms.
///
/// Example: a process sends 1,000 times to rank 3 with tag 7, and receives as often from rank 2,
/// messages of one length. There are 2,000 entries and 2 forms.
///
/// Where nearly every event has a form of its own, as where the length of each non-blocking message
/// differs, an event takes 48 bytes.
class EventList {
 public:
  class Iterator;

  EventList() = default;
  explicit EventList(std::span<const Event> events) {
    for (const Event& event : events) push_back(event);
  }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  /// O(1).
  [[nodiscard]] Event operator[](std::size_t i) const {
    const Entry& entry = entries_[i];
    Event event = forms_[entry.form];
    event.time = entry.time;
    add_detail(event, entry.detail);
    return event;
  }
  [[nodiscard]] inline Iterator begin() const;
  [[nodiscard]] inline Iterator end() const;

  /// Properties of event i: its stamp, its kind, the number of its form. Cheaper than the event.
  [[nodiscard]] std::uint64_t time(std::size_t i) const { return entries_[i].time; }
  [[nodiscard]] EventKind kind(std::size_t i) const { return forms_[entries_[i].form].kind; }
  [[nodiscard]] std::uint32_t form(std::size_t i) const { return entries_[i].form; }
  /// Numbers of forms are below this.
  [[nodiscard]] std::size_t form_count() const { return forms_.size(); }
  /// Position of the first event at or after a stamp. The times must not decrease. O(log n).
  [[nodiscard]] std::size_t lower_bound(std::uint64_t time) const {
    const auto at = std::ranges::lower_bound(entries_, time, {}, &Entry::time);
    return static_cast<std::size_t>(at - entries_.begin());
  }

  void push_back(const Event& event) {
    const auto [form, detail] = split(event);
    entries_.push_back({event.time, number_of(form), detail});
  }

  /// Makes room for `count` events.
  void reserve(std::size_t count) { entries_.reserve(count); }
  [[nodiscard]] std::size_t capacity() const { return entries_.capacity(); }
  /// Gives back what only push_back() needs and, if `cut`, unused room.
  void settle(bool cut) {
    if (cut) entries_.shrink_to_fit();
    forms_.shrink_to_fit();
    numbers_ = {};
  }

 private:
  struct Entry {
    std::uint64_t time = 0;
    std::uint32_t form = 0;
    std::uint32_t detail = 0;
  };
  static_assert(sizeof(Entry) == 16);

  /// Kinds whose detail is the lower half of their id, and those of which it is the length. The
  /// detail of others is their tag.
  static constexpr std::uint64_t k_with_id = kind_set(
      {EventKind::isend, EventKind::irecv_request, EventKind::irecv, EventKind::request_cancelled,
       EventKind::nb_request, EventKind::nb_complete, EventKind::thread_create,
       EventKind::thread_begin, EventKind::thread_wait, EventKind::thread_end});
  static constexpr std::uint64_t k_with_length = kind_set({EventKind::send, EventKind::recv});

  static void add_detail(Event& event, std::uint32_t detail) {
    if (contains(k_with_id, event.kind)) {
      event.id |= detail;
    } else if (contains(k_with_length, event.kind)) {
      set_length_code(event, detail);
    } else {
      event.tag = detail;
    }
  }

  struct Split {
    Event form;  ///< the event with time 0, and 0 in the place of the detail
    std::uint32_t detail = 0;
  };
  static Split split(const Event& event) {
    constexpr std::uint64_t k_low = 0xFFFFFFFFu;
    Split result{event, 0};
    result.form.time = 0;
    if (contains(k_with_id, event.kind)) {
      result.detail = static_cast<std::uint32_t>(event.id & k_low);
      result.form.id &= ~k_low;
    } else if (contains(k_with_length, event.kind)) {
      result.detail = length_code(event);
      set_length_code(result.form, 0);
    } else {
      result.detail = event.tag;
      result.form.tag = 0;
    }
    return result;
  }

  /// An event as four words; of a form the first one, its time, is 0.
  using Words = std::array<std::uint64_t, 4>;
  static Words words(const Event& form) { return std::bit_cast<Words>(form); }

  std::uint32_t number_of(const Event& form) {
    const Words w = words(form);
    const std::uint64_t hash = (w[1] ^ w[2] ^ w[3]) * 0x9E3779B97F4A7C15u;
    std::uint32_t& recent = recent_[hash >> 58];
    if (recent >= forms_.size() || words(forms_[recent]) != w) recent = search(form);
    return recent;
  }
  std::uint32_t search(const Event& form) {
    if (numbers_.size() < forms_.size()) {  // after settle()
      for (std::uint32_t n = 0; n < forms_.size(); ++n) numbers_.insert(words(forms_[n]), n);
    }
    const auto next = static_cast<std::uint32_t>(forms_.size());
    const auto [number, is_new] = numbers_.insert(words(form), next);
    if (is_new) forms_.push_back(form);
    return *number;
  }

  struct WordsHash {
    std::uint64_t operator()(const Words& w) const { return mix(w[1] ^ mix(w[2] ^ mix(w[3]))); }
  };

  BigVector<Entry> entries_;
  std::vector<Event> forms_;
  std::array<std::uint32_t, 64> recent_{};            ///< numbers, by some bits of the form
  FlatMap<Words, std::uint32_t, WordsHash> numbers_;  ///< empty after settle()
};

/// Gives the events by value, in order.
class EventList::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Event;
  using difference_type = std::ptrdiff_t;
  using pointer = const Event*;
  using reference = Event;

  Iterator(const EventList& list, std::size_t i) : list_(&list), i_(i) {}

  Event operator*() const { return (*list_)[i_]; }
  Iterator& operator++() {
    ++i_;
    return *this;
  }
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.i_ == b.i_; }

 private:
  const EventList* list_;
  std::size_t i_;
};

EventList::Iterator EventList::begin() const { return {*this, 0}; }
EventList::Iterator EventList::end() const { return {*this, size()}; }

}  // namespace entrain::trace
