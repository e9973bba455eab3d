// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/protobuf.hpp"

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "formats/spans/source_text.hpp"
#include "formats/spans/spans_testing.hpp"

namespace entrain::spans {
namespace {

/// A field of bytes; all are shorter than 128.
std::string bytes_field(unsigned field, const std::string& bytes) {
  return std::string{static_cast<char>(field << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}

std::string time_field(unsigned field, std::uint64_t time) {
  std::string text(9, static_cast<char>(field << 3 | 1));
  std::memcpy(text.data() + 1, &time, sizeof time);
  return text;
}

/// An id of so many bytes.
std::string id_of(std::size_t size, char last) {
  std::string id(size, '\0');
  id.back() = last;
  return id;
}

std::string packed_span(char id, char parent, char kind, std::uint64_t begin, std::uint64_t end) {
  std::string text = bytes_field(1, id_of(16, '\x0A')) + bytes_field(2, id_of(8, id));
  if (parent != 0) text += bytes_field(4, id_of(8, parent));
  return text + "\x30" + kind + time_field(7, begin) + time_field(8, end);
}

std::string packed_request(const std::string& host, const std::string& span) {
  const std::string attribute = bytes_field(1, "host.name") + bytes_field(2, bytes_field(1, host));
  return bytes_field(
      1, bytes_field(1, bytes_field(1, attribute)) + bytes_field(2, bytes_field(2, span)));
}

constexpr std::uint64_t k_epoch = 1'700'000'000'000'000'000;

std::string two_spans() {
  return packed_request("a", packed_span(1, 0, 3, k_epoch + 100, k_epoch + 900)) +
         packed_request("b", packed_span(2, 1, 2, k_epoch + 50, k_epoch + 700));
}

TEST(Protobuf, framings_are_told_apart_by_the_first_message) {
  const std::string message = packed_request("a", packed_span(1, 0, 3, k_epoch, k_epoch + 1));
  const auto size = static_cast<char>(message.size());
  EXPECT_EQ(framing_of(message), Framing::none);
  EXPECT_EQ(framing_of(std::string(3, '\0') + size + message), Framing::fixed32);
  EXPECT_EQ(framing_of(std::string(1, size) + message), Framing::varint);
  // The first time decides.
  const std::size_t time = message.find(time_field(7, k_epoch)) + time_field(7, k_epoch).size();
  for (std::size_t cut = 0; cut < message.size(); ++cut) {
    EXPECT_EQ(framing_of(message.substr(0, cut)).has_value(), cut >= time) << cut;
  }
}

TEST(Protobuf, other_messages_and_texts_are_none) {
  const std::string time(9, '\x01');
  // A packet of Perfetto: timestamp (8), sequence (10), track event (11).
  EXPECT_FALSE(framing_of(bytes_field(1, "\x40\x05\x50\x01" + bytes_field(11, "\x48\x01"))));
  // Its process tree (2) with a process (1) and a thread (2) of numbers, as a scope with a span.
  EXPECT_FALSE(framing_of(bytes_field(
      1, bytes_field(2, bytes_field(1, "\x08\x07") + bytes_field(2, "\x08\x07\x18\x07")))));
  EXPECT_FALSE(framing_of("\n{\"resourceSpans\":[]}"));
  EXPECT_FALSE(framing_of("\n\n[\n{\"traceId\":\"1\"}]"));
  EXPECT_FALSE(framing_of(""));
  EXPECT_FALSE(framing_of(std::string(2, '\n')));
  EXPECT_FALSE(framing_of(bytes_field(1, "")));
}

TEST(Protobuf, other_signals_are_told_apart_and_skipped) {
  // A record of a log and a metric: times (1, 11), and points (5, 7) with times (2, 3).
  const std::string log = packed_request("a", time_field(1, k_epoch) + time_field(11, k_epoch));
  const auto metric = [](unsigned field) {
    return packed_request(
        "a", bytes_field(1, "cpu") + bytes_field(field, bytes_field(1, time_field(3, k_epoch))));
  };
  EXPECT_EQ(signal_of(log, log.size()), Signal::logs);
  EXPECT_EQ(signal_of(metric(5), metric(5).size()), Signal::metrics);
  EXPECT_EQ(signal_of(metric(7), metric(7).size()), Signal::metrics);
  EXPECT_EQ(signal_of(two_spans(), two_spans().size()), Signal::spans);
  // Their scopes are not those of each other: a log has no field 13, and a sum no field 5.
  EXPECT_FALSE(framing_of(packed_request("a", bytes_field(13, "") + time_field(1, k_epoch))));
  EXPECT_FALSE(framing_of(packed_request(
      "a", bytes_field(1, "cpu") + bytes_field(7, bytes_field(5, time_field(3, k_epoch))))));
  const Read read = read_all(log + two_spans() + metric(7));
  EXPECT_EQ(read.spans.all.size(), 2U);
  EXPECT_EQ(read.stamps.size(), 4U);
}

TEST(Protobuf, spans_are_read_as_those_of_json) {
  Read json = read_all(k_otlp), packed = read_all(two_spans());
  ASSERT_EQ(packed.spans.all.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const Span &one = json.spans.all[i], &other = packed.spans.all[i];
    EXPECT_EQ(json.spans.ids.trace_of(one.id), packed.spans.ids.trace_of(other.id));
    EXPECT_EQ(json.spans.ids.id_of(one.id), packed.spans.ids.id_of(other.id));
    EXPECT_EQ(json.spans.ids.hash_of(one.id), packed.spans.ids.hash_of(other.id));
    EXPECT_EQ(one.parent, other.parent);
    EXPECT_EQ(one.role, other.role);
    EXPECT_EQ(one.begin, other.begin);
    EXPECT_EQ(one.end, other.end);
  }
  EXPECT_EQ(packed.spans.groups.all(), (std::vector<std::string>{"a", "b"}));
}

TEST(Protobuf, times_are_patched_in_place) {
  const std::string text = two_spans();
  const Read read = read_all(text);
  const std::vector<ClockMap> maps{ClockMap().shifted(300), ClockMap()};
  const auto moved = patched(text, read.stamps, maps);
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->size(), text.size());
  const Read again = read_all(*moved);
  EXPECT_EQ(again.spans.all[0].begin, k_epoch + 400);
  EXPECT_EQ(again.spans.all[0].end, k_epoch + 1200);
  EXPECT_EQ(again.spans.all[1].begin, k_epoch + 50);
}

TEST(Protobuf, marks_grow_the_messages_around_them) {
  for (const Framing framing : {Framing::none, Framing::varint, Framing::fixed32}) {
    std::string text;
    for (const std::string& message :
         {packed_request("a", packed_span(1, 0, 3, k_epoch + 100, k_epoch + 900)),
          packed_request("b", packed_span(2, 1, 2, k_epoch + 50, k_epoch + 700))}) {
      if (framing == Framing::fixed32) text += std::string(3, '\0');
      if (framing != Framing::none) text += static_cast<char>(message.size());
      text += message;
    }
    Spans spans;
    std::vector<Stamp> stamps;
    std::vector<Mark> marks;
    ASSERT_TRUE(read(text, "file", spans, &stamps, &marks));
    ASSERT_EQ(marks.size(), 2U);
    const std::vector<ClockMap> maps{ClockMap().shifted(-300), ClockMap()};
    const std::string marked = with_marks(text, framing, marks, maps);
    EXPECT_EQ(marked.find("entrain.offset_ns"), marked.rfind("entrain.offset_ns"));
    Read again = read_all(marked);
    ASSERT_EQ(again.spans.all.size(), 2U);
    EXPECT_EQ(again.spans.cut_files, 0U);
    // Marked spans get no second mark.
    std::string twice = marked;
    marks.clear();
    ASSERT_TRUE(read(twice, "file", spans, &stamps, &marks));
    EXPECT_EQ(marks.size(), 1U);
  }
}

TEST(Protobuf, what_is_cut_off_is_counted_and_what_is_damaged_is_refused) {
  std::string text = two_spans();
  const std::size_t first = packed_request("a", packed_span(1, 0, 3, 1, 2)).size();
  std::string cut = text.substr(0, text.size() - 5);
  EXPECT_EQ(read_all(cut).spans.cut_files, 1U);
  EXPECT_EQ(read_all(cut).spans.all.size(), 1U);
  const auto error_of = [](std::string damaged) {
    Spans spans;
    std::vector<Stamp> stamps;
    const auto done = read(damaged, "file", spans, &stamps);
    return done ? "" : done.error().message;
  };
  EXPECT_EQ(error_of(text.substr(0, first - 1)),
            "file: its first message does not end; the file was cut off");
  EXPECT_EQ(error_of(text + "\x0B"), "file: the message at byte " + std::to_string(text.size()) +
                                         " is damaged: what it holds are no fields");
}

}  // namespace
}  // namespace entrain::spans
