// SPDX-License-Identifier: BSD-3-Clause
#include "formats/ctf/reader.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"
#include "base/try.hpp"
#include "formats/ctf/traces_testing.hpp"

namespace entrain::ctf {
namespace {

namespace fs = std::filesystem;
using namespace testing_traces;
using testing::ElementsAre;
using testing::HasSubstr;

struct Read {
  std::vector<Event> events;
  TraceFacts facts;
  Error error{};
};

Read read_all(const fs::path& folder, std::span<const Rule> rules = {}, bool all = true) {
  Read read;
  auto facts = read_trace(folder, rules, all, [&](const Event& event) -> Result<void> {
    read.events.push_back(event);
    return {};
  });
  if (facts) {
    read.facts = *std::move(facts);
  } else {
    read.error = facts.error();
  }
  return read;
}

struct Reader : testing::Test {
  /// What is read of these events.
  [[nodiscard]] Read read(const TestTrace& trace, const std::vector<TestEvent>& events,
                          std::span<const Rule> rules = {}, bool all = true) const {
    fs::remove_all(root / "t");
    write_trace(root / "t", trace, events);
    return read_all(root / "t", rules, all);
  }
  void SetUp() override {
    if (read({}, {{1}}).error.message.find("built without") != std::string::npos) {
      GTEST_SKIP() << "built without libbabeltrace2";
    }
  }
  TempFolder root;
};

TEST_F(Reader, shows_events_with_their_times_and_places) {
  const Read got = read({}, {{5}, {7}});
  ASSERT_EQ(got.events.size(), 2u) << got.error.message;
  EXPECT_EQ(got.events[0].time, 5u);
  EXPECT_EQ(got.events[1].time, 7u);
  EXPECT_EQ(got.events[0].name, "e");
  EXPECT_EQ(got.events[0].stream, "stream");
  EXPECT_EQ(got.facts.hostname, "alpha");
  EXPECT_EQ(got.facts.events, 2u);
  ASSERT_EQ(got.facts.clocks.size(), 1u);
  EXPECT_EQ(got.facts.clocks[0].name, "c");
  EXPECT_EQ(got.facts.clocks[0].uuid, "");
  EXPECT_EQ(got.facts.spans[0].first, 5u);
  EXPECT_EQ(got.facts.spans[0].last, 7u);
  EXPECT_TRUE(read({}, {{5}, {7}}, {}, false).events.empty());  // none is the end of a message
}

TEST_F(Reader, knows_clocks_by_what_metadata_says) {
  const Read got = read({.env = "hostname = 7;",
                         .clock = "name = \"c\"; uuid = \"00010203-0405-0607-0809-0a0b0c0d0e0f\"; "
                                  "freq = 1000; offset_s = 2; offset = 30;"},
                        {{5}});
  ASSERT_EQ(got.facts.clocks.size(), 1u) << got.error.message;
  EXPECT_EQ(got.facts.clocks[0].uuid.size(), 16u);
  EXPECT_EQ(got.facts.clocks[0].uuid.back(), '\x0f');
  EXPECT_EQ(got.facts.clocks[0].frequency, 1000u);
  EXPECT_EQ(got.facts.clocks[0].offset_s, 2);
  EXPECT_EQ(got.facts.clocks[0].offset, 30u);
  EXPECT_EQ(got.events.at(0).time, 2'035'000'000u);
  EXPECT_EQ(got.facts.hostname, "");  // a number names no host
}

/// An event class with a field of every kind.
const char* const k_kinds =
    "event { name = \"kinds\"; id = 0; stream_id = 0; fields := struct {\n"
    "  uint8_t small; int32_t negative; string text;\n"
    "  floating_point { exp_dig = 8; mant_dig = 24; byte_order = le; align = 8; } single;\n"
    "  floating_point { exp_dig = 11; mant_dig = 53; byte_order = le; align = 8; } twice;\n"
    "  struct { uint8_t a; uint8_t b; } inner; uint8_t fixed[2]; uint8_t length;\n"
    "  uint8_t list[length];\n"
    "  enum : uint8_t { none = 0, number = 1, other = 2 } tag;\n"
    "  variant <tag> { struct { } none; uint8_t number; struct { uint8_t deep; } other; } choice;\n"
    "}; };\n";

std::string kinds(std::uint8_t small = 1, std::int32_t negative = -2, const char* text = "t",
                  float single = 1.5F, double twice = 2.5, std::uint8_t a = 3,
                  std::uint8_t fixed = 4, const std::string& list = "xy", std::uint8_t tag = 1) {
  Bytes bytes;
  bytes.add(small).add(negative).text(text).add(single).add(twice).add(a).add(std::uint8_t{9});
  bytes.add(std::uint8_t{5}).add(fixed).add(static_cast<std::uint8_t>(list.size()));
  std::string result = bytes.str() + list + static_cast<char>(tag);
  if (tag != 0) result += '\x06';
  return result;
}

TEST_F(Reader, hashes_tell_events_apart_by_every_field) {
  TestTrace trace;
  trace.classes = k_kinds;
  const std::vector<std::string> different{
      kinds(),
      kinds(2),
      kinds(1, 2),
      kinds(1, -2, "u"),
      kinds(1, -2, ""),
      kinds(1, -2, "t", 1.25F),
      kinds(1, -2, "t", 1.5F, -2.5),
      kinds(1, -2, "t", 1.5F, 2.5, 7),
      kinds(1, -2, "t", 1.5F, 2.5, 3, 8),
      kinds(1, -2, "t", 1.5F, 2.5, 3, 4, "xz"),
      kinds(1, -2, "t", 1.5F, 2.5, 3, 4, ""),
      kinds(1, -2, "t", 1.5F, 2.5, 3, 4, "xy", 0),
      kinds(1, -2, "t", 1.5F, 2.5, 3, 4, "xy", 2),
  };
  std::vector<TestEvent> events;
  for (const std::string& fields : different) events.push_back({1, 0, 0, fields});
  events.push_back({2, 0, 0, kinds()});  // the first one later
  events.push_back({2, 0, 1, kinds()});  // and in another thread
  const Read got = read(trace, events);
  ASSERT_EQ(got.events.size(), events.size()) << got.error.message;
  std::set<std::uint64_t> hashes;
  for (const Event& event : got.events) hashes.insert(event.contents);
  EXPECT_EQ(hashes.size(), different.size() + 1);
  EXPECT_EQ(got.events[different.size()].contents, got.events[0].contents);
}

TEST_F(Reader, ends_of_messages_have_all_fields_of_their_rule) {
  TestTrace trace;
  trace.classes = k_kinds;
  const auto rule = [](const std::string& fields) {
    return parse_rule("send=kinds:" + fields + ",receive=none:" + fields).value();
  };
  const std::vector<Rule> rules{rule("small"),
                                rule("inner.a+text"),
                                rule("tid"),
                                rule("choice.deep"),
                                rule("missing"),
                                rule("small.deeper"),
                                rule("inner.missing+tid")};
  const Read got = read(trace,
                        {{1, 0, 7, kinds()},
                         {2, 0, 8, kinds()},
                         {3, 0, 7, kinds(1, -2, "t", 1.5F, 2.5, 3, 4, "xy", 2)}},
                        rules, false);
  ASSERT_EQ(got.events.size(), 3u) << got.error.message;
  const auto rules_of = [](const Event& event) {
    std::vector<std::uint32_t> numbers;
    for (const MessageEnd& end : event.ends) {
      EXPECT_TRUE(end.is_send);
      EXPECT_EQ(end.time, event.time);
      numbers.push_back(end.rule);
    }
    return numbers;
  };
  EXPECT_THAT(rules_of(got.events[0]), ElementsAre(0, 1, 2));
  EXPECT_THAT(rules_of(got.events[2]), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(got.events[0].ends[0].key, got.events[1].ends[0].key);
  EXPECT_NE(got.events[0].ends[2].key, got.events[1].ends[2].key);  // of another thread
  EXPECT_EQ(got.events[0].ends[2].key, got.events[2].ends[2].key);
  EXPECT_NE(got.events[0].ends[0].key, got.events[0].ends[2].key);  // of another rule
  EXPECT_EQ(got.events[0].contents, 0u);
  EXPECT_EQ(got.events[0].name, "");
}

TEST_F(Reader, places_tell_where_a_message_was_seen) {
  TestTrace trace;
  trace.classes = k_kinds;
  std::vector<Rule> rules{parse_rule("send=kinds:small,receive=kinds:small").value()};
  rules[0].place = {"text"};
  const Read got = read(trace, {{1, 0, 0, kinds()}, {2, 0, 0, kinds(1, -2, "u")}}, rules, false);
  ASSERT_EQ(got.events.size(), 2u) << got.error.message;
  ASSERT_EQ(got.events[0].ends.size(), 2u);  // as a send and as a receive
  EXPECT_NE(got.events[0].ends[0].is_send, got.events[0].ends[1].is_send);
  EXPECT_EQ(got.events[0].ends[0].key, got.events[1].ends[0].key);
  EXPECT_NE(got.events[0].ends[0].place, got.events[1].ends[0].place);
}

TEST_F(Reader, events_without_a_time_are_counted) {
  TestTrace none;
  none.clock = "";
  const Read without = read(none, {{1}, {2}});
  EXPECT_EQ(without.facts.without_clock, 2u) << without.error.message;
  EXPECT_EQ(without.facts.events, 0u);
  TestTrace early;
  early.clock = "name = \"c\"; freq = 1000000000; offset_s = -1;";
  const Read before = read(early, {{1}, {999'999'999}, {1'000'000'000}});
  EXPECT_EQ(before.facts.out_of_range, 2u) << before.error.message;
  ASSERT_EQ(before.events.size(), 1u);
  EXPECT_EQ(before.events[0].time, 0u);
  const std::uint64_t latest = std::uint64_t{1} << 62;
  const Read after = read({}, {{latest}, {latest + 1}, {latest + 2}});
  EXPECT_EQ(after.facts.out_of_range, 2u) << after.error.message;
  ASSERT_EQ(after.events.size(), 1u);
  EXPECT_EQ(after.facts.spans[0].last, latest);
}

TEST_F(Reader, lost_events_are_counted) {
  write_trace(root / "t", {}, {{1}});
  write_text(root / "t" / "stream", packet_of({{1}}) + packet_of({{5}}, 3) + packet_of({{9}}, 10));
  const Read got = read_all(root / "t");
  EXPECT_EQ(got.facts.discarded, 10u) << got.error.message;
  EXPECT_EQ(got.facts.events, 3u);
}

TEST_F(Reader, opens_no_more_streams_at_once_than_a_process_may) {
  write_trace(root / "t", {}, {{1}});
  for (std::uint64_t i = 0; i < 405; ++i) {
    write_text(root / "t" / ("s" + std::to_string(i)), packet_of({{2 + i}}));
  }
  const Read got = read_all(root / "t");
  EXPECT_EQ(got.facts.events, 406u) << got.error.message;
  std::set<std::string> streams;
  for (const Event& event : got.events) streams.insert(event.stream);
  EXPECT_EQ(streams.size(), 406u);
  EXPECT_EQ(got.facts.clocks.size(), 1u);
}

TEST_F(Reader, what_is_no_trace_is_refused_with_a_reason) {
  write_trace(root / "t", {}, {{1}});
  const auto reason_for = [&](const char* file, const std::string& text) {
    write_trace(root / "t", {}, {{1}});
    write_text(root / "t" / file, text);
    const Read got = read_all(root / "t");
    EXPECT_EQ(got.error.kind, ErrorKind::input);
    EXPECT_THAT(got.error.message, HasSubstr("libbabeltrace2"));
    EXPECT_THAT(got.error.message, HasSubstr((root / "t").string()));
    EXPECT_THAT(got.error.message, testing::Not(HasSubstr("\n")));
  };
  reason_for("metadata", "/* CTF 1.8 */ trace {");
  reason_for("metadata", "");
  reason_for("stream", packet_of({{1}, {2}}).substr(0, 60));
  reason_for("stream", std::string(100, '\0'));
  reason_for("stream", packet_of({{1, 77}}));  // of no class
}

TEST_F(Reader, ends_with_who_looks) {
  const auto stopped = read_trace(root / "t", {}, true, [](const Event&) -> Result<void> {
    return input_error("that is enough");
  });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message, "that is enough");
}

}  // namespace
}  // namespace entrain::ctf
