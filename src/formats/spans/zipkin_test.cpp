// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/edge_list.hpp"
#include "formats/spans/edges.hpp"
#include "formats/spans/source_text.hpp"
#include "formats/spans/spans.hpp"
#include "formats/spans/spans_testing.hpp"

namespace entrain::spans {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

struct Zipkin {
  std::string text;
  Spans spans;
  std::vector<Stamp> stamps;
  std::vector<Mark> marks;
};

Zipkin read_zipkin(std::string text) {
  Zipkin result;
  result.text = std::move(text);
  const auto done = read(result.text, "file", result.spans, &result.stamps, &result.marks);
  EXPECT_TRUE(done) << done.error().message;
  return result;
}

std::vector<std::string> arrows_of(const Found& edges) {
  std::vector<std::string> lines;
  const EdgeList list = list_of(edges.found);
  for (std::size_t i = 0; i < list.cause_clock.size(); ++i) {
    lines.push_back(edges.identity.clocks.clocks[list.cause_clock[i]].name + ":" +
                    std::to_string(list.cause_time[i] / 1000) + " -> " +
                    edges.identity.clocks.clocks[list.effect_clock[i]].name + ":" +
                    std::to_string(list.effect_time[i] / 1000));
  }
  return lines;
}

std::string annotation(const std::string& what, int time, const std::string& host) {
  return R"({"timestamp":)" + std::to_string(time) + R"(,"value":")" + what +
         R"(","endpoint":{"serviceName":")" + host + "\"}}";
}

std::string span_of(const std::string& annotations, const std::string& more = "") {
  return R"({"traceId":"1","id":"2","name":"get",)" + more + R"("annotations":[)" + annotations +
         R"(],"binaryAnnotations":[]})";
}

/// Both halves of a call from a to b, as the storage of version 1 merges them.
std::string merged() {
  return span_of(annotation("cs", 1000, "a") + ',' + annotation("sr", 950, "b") + ',' +
                     annotation("busy", 1200, "b") + ',' + annotation("ss", 1400, "b") + ',' +
                     annotation("cr", 1600, "a"),
                 R"("timestamp":1000,"duration":600,)");
}

TEST(ZipkinV1, a_span_has_the_halves_of_client_and_server) {
  EXPECT_THAT(arrows_of(edges_of(read_zipkin("[" + merged() + "]").spans)),
              ElementsAre("a:1000 -> b:950", "b:1400 -> a:1600"));
}

TEST(ZipkinV1, halves_may_be_spans_of_their_own) {
  const std::string client =
      span_of(annotation("cs", 1000, "a") + ',' + annotation("cr", 1600, "a"));
  const std::string server =
      span_of(annotation("ss", 1400, "b") + ',' + annotation("sr", 950, "b"));
  for (const std::string& text : {client + "," + server, server + "," + client}) {
    EXPECT_THAT(arrows_of(edges_of(read_zipkin("[" + text + "]").spans)),
                testing::UnorderedElementsAre("a:1000 -> b:950", "b:1400 -> a:1600"));
  }
}

TEST(ZipkinV1, times_move_with_the_clock_of_their_endpoint) {
  const Zipkin read = read_zipkin("[" + merged() + "]");
  std::vector<ClockMap> maps(read.spans.clocks.all().size());
  maps[read.spans.clocks.find("b")] = ClockMap().shifted(100'000);
  const auto text = patched(read.text, read.stamps, maps, read.marks);
  ASSERT_TRUE(text);
  std::string expected = "[" + merged() + "]";
  const std::vector<std::pair<std::string, std::string>> changes{
      {"950", "1050"}, {"1200", "1300"}, {"1400", "1500"}};
  for (const auto& [before, after] : changes) {
    expected.replace(expected.find(before), before.size(), after);
  }
  EXPECT_EQ(*text, expected);
}

TEST(ZipkinV1, annotations_without_an_endpoint_move_with_their_half_or_their_span) {
  const auto bare = [](const char* what, int time) {
    return fmt::format(R"({{"timestamp":{},"value":"{}"}})", time, what);
  };
  const auto text_at = [&](int by, const std::string& host) {
    return "[" +
           span_of(annotation("cs", 1000 + by, host) + ',' + bare("note", 1100 + by) + ',' +
                       bare("cr", 1600 + by),
                   fmt::format(R"("timestamp":{},"duration":600,)", 1000 + by)) +
           "]";
  };
  const Zipkin read = read_zipkin(text_at(0, "a"));
  std::vector<ClockMap> maps(read.spans.clocks.all().size());
  maps[read.spans.clocks.find("a")] = ClockMap().shifted(7'000);
  EXPECT_EQ(patched(read.text, read.stamps, maps), text_at(7, "a"));
  // An annotation that says nothing is of no half.
  const Zipkin empty = read_zipkin(
      "[" + span_of(bare("", 900) + ',' + bare("sr", 1000) + ',' + annotation("note", 1100, "a")) +
      "]");
  EXPECT_EQ(empty.spans.clocks.find("unknown"), k_none);
  // Nobody knows which host's a half is that names none, beside another one.
  const Zipkin half =
      read_zipkin("[" + span_of(annotation("cs", 1000, "a") + ',' + bare("sr", 900)) + "]");
  EXPECT_THAT(edges_of(half.spans).counters, ElementsAre(Pair("calls_without_a_host", 1U)));
}

TEST(ZipkinV1, the_span_says_how_far_its_first_half_moved) {
  const Zipkin read = read_zipkin("[" + merged() + "]");
  std::vector<ClockMap> maps(read.spans.clocks.all().size());
  maps[read.spans.clocks.find("a")] = ClockMap().shifted(7'000);
  const auto text = patched(read.text, read.stamps, maps, read.marks);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr(R"("timestamp":1007,"duration":600,)"));
  EXPECT_THAT(*text, HasSubstr(R"([{"key":"entrain.offset_ns","value":"7000"}]})"));
}

TEST(ZipkinV1, an_unfinished_half_says_nothing_about_ends) {
  EXPECT_THAT(
      arrows_of(edges_of(
          read_zipkin(
              "[" + span_of(annotation("cs", 1000, "a") + ',' + annotation("sr", 1100, "b")) + "]")
              .spans)),
      ElementsAre("a:1000 -> b:1100"));
}

/// The span's length is that of the client, whose begin is not known.
TEST(ZipkinV1, a_half_takes_no_length_of_another_clock) {
  const Zipkin read = read_zipkin(
      "[" +
      span_of(R"({"value":"cs","endpoint":{"serviceName":"a"}},)" + annotation("sr", 900, "b"),
              R"("timestamp":900,"duration":50,)") +
      "]");
  ASSERT_EQ(read.spans.all.size(), 1U);
  EXPECT_EQ(read.spans.clocks.all()[read.spans.all[0].clock], "b");
  EXPECT_EQ(read.spans.all[0].end, read.spans.all[0].begin);
}

TEST(ZipkinV1, messages_begin_only) {
  EXPECT_THAT(
      arrows_of(edges_of(
          read_zipkin(
              "[" + span_of(annotation("ms", 1000, "a") + ',' + annotation("mr", 1100, "b")) + "]")
              .spans)),
      ElementsAre("a:1000 -> b:1100"));
}

/// A local span is that of its component; the address of the other side is not its own.
TEST(ZipkinV1, a_span_without_halves_belongs_to_its_local_endpoint) {
  const Zipkin read = read_zipkin(
      R"([{"traceId":"1","id":"3","name":"x","timestamp":5000,"duration":7,"binaryAnnotations":[)"
      R"({"key":"sa","value":true,"endpoint":{"serviceName":"other"}},)"
      R"({"key":"lc","value":"store","endpoint":{"serviceName":"own"}}]}])");
  ASSERT_EQ(read.spans.all.size(), 1U);
  EXPECT_EQ(read.spans.clocks.all()[read.spans.all[0].clock], "own");
  EXPECT_EQ(read.spans.all[0].end, 5'007'000U);
}

TEST(ZipkinV1, what_lacks_a_time_is_counted) {
  const Zipkin read =
      read_zipkin("[" + span_of("") + "," + span_of(annotation("cs", 0, "a")) + "]");
  EXPECT_EQ(read.spans.untimed.size(), 2U);
  EXPECT_THAT(read.spans.all, IsEmpty());
}

TEST(Spans, calls_of_unknown_hosts_are_counted_and_give_no_edge) {
  const Found edges = edges_of(
      read_zipkin(R"([{"traceId":"1","id":"1","kind":"CLIENT","timestamp":1000,"duration":9},)"
                  R"({"traceId":"1","id":"2","parentId":"1","kind":"SERVER","timestamp":900,)"
                  R"("duration":9,"localEndpoint":{"serviceName":"b"}}])")
          .spans);
  EXPECT_THAT(arrows_of(edges), IsEmpty());
  EXPECT_THAT(edges.counters, ElementsAre(Pair("calls_without_a_host", 1U)));
}

}  // namespace
}  // namespace entrain::spans
