// SPDX-License-Identifier: BSD-3-Clause
#include "trace/event_list.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace entrain::trace {
namespace {

using K = EventKind;

bool same(const Event& a, const Event& b) {
  return a.time == b.time && a.id == b.id && a.comm == b.comm && a.peer == b.peer &&
         a.tag == b.tag && a.kind == b.kind && a.op == b.op && a.flags == b.flags &&
         a.more == b.more;
}

/// Every kind, with something in every field.
std::vector<Event> all_kinds() {
  std::vector<Event> events;
  for (unsigned kind = 0; kind <= static_cast<unsigned>(K::rma_lock); ++kind) {
    const auto byte = [&](unsigned n) { return static_cast<std::uint8_t>(kind + n); };
    events.push_back({.time = 1000 + kind,
                      .id = 0xFEDCBA9876543210u + kind,
                      .comm = 7 + kind,
                      .peer = k_none - kind,
                      .tag = 0x80000000u + kind,
                      .kind = static_cast<K>(kind),
                      .op = byte(1),
                      .flags = byte(2),
                      .more = byte(3)});
  }
  return events;
}

TEST(EventList, gives_back_every_field_of_every_kind) {
  const std::vector<Event> events = all_kinds();
  const EventList list(events);
  ASSERT_EQ(list.size(), events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_TRUE(same(list[i], events[i])) << i;
    EXPECT_EQ(list.time(i), events[i].time);
    EXPECT_EQ(list.kind(i), events[i].kind);
  }
  EXPECT_TRUE(std::equal(list.begin(), list.end(), events.begin(), events.end(), same));
}

TEST(EventList, has_a_form_for_what_is_alike) {
  EventList list;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    list.push_back({.time = 10 * i, .comm = 0, .peer = 3, .tag = 7, .kind = K::send});
    list.push_back({.time = 10 * i + 5, .id = i, .kind = K::irecv_request});
  }
  EXPECT_EQ(list.form_count(), 2u);
  EXPECT_EQ(list.form(0), list.form(1998));
  EXPECT_NE(list.form(0), list.form(1));
  EXPECT_EQ(list[1999].id, 999u);
}

TEST(EventList, lengths_and_tags_of_one_kind_need_no_forms_of_their_own) {
  EventList list;
  for (std::uint64_t i = 0; i < 100; ++i) {
    Event message{.time = i, .peer = 1, .kind = K::recv};
    set_length(message, 8 * i);
    list.push_back(message);
    list.push_back({.time = i, .tag = static_cast<std::uint32_t>(i), .kind = K::lock_acquire});
  }
  EXPECT_EQ(list.form_count(), 2u);
}

TEST(EventList, many_forms_are_told_apart) {
  EventList list;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    list.push_back({.time = i, .peer = i * 977 % 5000, .tag = i % 13, .kind = K::isend});
  }
  list.settle(true);
  for (std::uint32_t i = 0; i < 5000; ++i) {  // found again
    list.push_back({.time = i, .peer = i * 977 % 5000, .tag = i % 13, .kind = K::isend});
  }
  for (std::uint32_t i = 0; i < 10000; ++i) {
    ASSERT_EQ(list[i].peer, i % 5000 * 977 % 5000);
    ASSERT_EQ(list[i].tag, i % 5000 % 13);
  }
  EXPECT_EQ(list.form_count(), 5000u);
}

TEST(EventList, finds_the_first_event_from_a_stamp_on) {
  EventList list;
  for (const std::uint64_t time : {5U, 7U, 7U, 9U}) list.push_back({.time = time, .kind = K::send});
  const std::vector<std::size_t> found{list.lower_bound(0), list.lower_bound(7),
                                       list.lower_bound(8), list.lower_bound(10)};
  EXPECT_EQ(found, (std::vector<std::size_t>{0, 1, 3, 4}));
}

}  // namespace
}  // namespace entrain::trace
