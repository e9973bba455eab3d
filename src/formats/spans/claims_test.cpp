// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/claims.hpp"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"
#include "formats/json/document.hpp"
#include "formats/spans/recording.hpp"
#include "formats/spans/spans_testing.hpp"

namespace entrain::spans {
namespace {

using Opened = Result<std::unique_ptr<formats::Recording>>;

class SpanClaims : public ::testing::Test {
 protected:
  Opened open(const std::string& text, const std::string& name = "a.json") {
    std::filesystem::remove(folder_ / name);
    EXPECT_TRUE(json::save(folder_ / name, text, name.ends_with(".gz")));
    return read(std::vector{folder_ / name}, 1);
  }
  /// Expects this number of edges, which hold, and that no other time of any of them does.
  static void expect(const Opened& run, std::size_t edges) {
    ASSERT_TRUE(run) << run.error().message;
    tables::EdgeList& list = (*run)->list;
    EXPECT_EQ(list.cause_time.size(), edges);
    const Result<void> verified = (*run)->verify_claims();
    EXPECT_TRUE(verified) << verified.error().message;
    for (std::size_t i = 0; i < list.cause_time.size(); ++i) {
      for (std::uint64_t* time : {&list.cause_time[i], &list.effect_time[i]}) {
        ++*time;
        EXPECT_FALSE((*run)->verify_claims());
        --*time;
      }
    }
  }

  TempFolder folder_;
};

/// Jaeger: a call of a client by references, and a server of the same trace.
constexpr const char* k_jaeger = R"({"data":[{"traceID":"1","spans":[
{"traceID":"1","spanID":"a","processID":"p1","operationName":"get","startTime":100,"duration":50,
"tags":[{"key":"span.kind","type":"string","value":"client"}]},
{"traceID":"1","spanID":"b","processID":"p2","operationName":"get","startTime":110.5,"duration":20,
"references":[{"refType":"CHILD_OF","traceID":"1","spanID":"a"}],
"tags":[{"key":"span.kind","type":"string","value":"server"}]}],
"processes":{"p1":{"serviceName":"x","tags":[{"key":"hostname","value":"h\u0031"}]},
"p2":{"serviceName":"y","tags":[{"key":"ip","value":"10.0.0.1"}]}}}]})";

/// Version 1 of Zipkin: both halves in one span, and a client in a span of its own.
constexpr const char* k_zipkin_v1 = R"([{"traceId":"1","id":"2","name":"get","annotations":[
{"timestamp":100,"value":"cs","endpoint":{"serviceName":"x"}},
{"timestamp":110,"value":"sr","endpoint":{"serviceName":"y"}},
{"timestamp":120,"value":"ss","endpoint":{"serviceName":"y"}},
{"timestamp":130,"value":"cr","endpoint":{"serviceName":"x"}}]},
{"traceId":"1","id":"3","parentId":"2","name":"put","timestamp":112,"duration":6,"annotations":[
{"timestamp":112,"value":"cs"}],
"binaryAnnotations":[{"key":"lc","value":"","endpoint":{"serviceName":"z"}}]}])";

TEST_F(SpanClaims, of_the_reader_hold_for_all_shapes) {
  expect(open(k_otlp), 2);
  expect(open(k_jaeger), 2);
  expect(open(k_zipkin_v1), 3);
  const std::string zipkin = zipkin_of({{"a", "", "CLIENT", "x", 100, 50},
                                        {"b", "a", "SERVER", "y", 110, 20},
                                        {"c", "b", "CLIENT", "y", 112, 9},
                                        {"d", "c", "SERVER", "z", 114, 3}});
  expect(open(zipkin), 4);
  expect(open(zipkin, "b.json.gz"), 4);
}

TEST_F(SpanClaims, of_the_reader_hold_for_lines_halves_of_ids_and_shared_spans) {
  const std::string lines =
      R"({"traceID":"0000000000000001A","spanID":"0a","startTime":100,"duration":50,)"
      R"("tags":[{"key":"span.kind","value":"client"}],"process":{"serviceName":"x"}})"
      "\n"
      R"({"traceID":"1a","spanID":"b","startTime":"110","duration":20,"parentSpanID":"A",)"
      R"("tags":[{"key":"span.kind","value":"server"}],"process":{"serviceName":"y"}})"
      "\n"
      R"({"traceID":"1a","spa)";
  expect(open(lines), 2);
  expect(open(R"([{"traceId":"1","id":"2","kind":"CLIENT","timestamp":100,"duration":50,
"localEndpoint":{"serviceName":"x","ipv4":"1.2.3.4"}},{"traceId":"1","id":"2","kind":"SERVER",
"shared":true,"timestamp":110,"duration":20,"localEndpoint":{"serviceName":"y"}}])"),
         2);
}

/// A consumer that waits for its message begins before the latter is sent.
TEST_F(SpanClaims, of_links_and_of_spans_that_poll_hold) {
  const char* const polls = R"({"resourceSpans":[
{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":"a"}}]},"scopeSpans":[{"spans":[
{"traceId":"1","spanId":"1","kind":4,"startTimeUnixNano":"100","endTimeUnixNano":"200"}]}]},
{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":"b"}}]},"scopeSpans":[{"spans":[
{"traceId":"2","spanId":"2","kind":5,"startTimeUnixNano":"50","endTimeUnixNano":"250",
"attributes":[{"key":"messaging.operation","value":{"stringValue":"receive"}}],
"links":[{"traceId":"1","spanId":"1"}]}]}]}]})";
  const Opened run = open(polls);
  expect(run, 1);
  EXPECT_EQ((*run)->list.effect_time[0], 250U);
}

TEST_F(SpanClaims, with_another_host_or_used_twice_are_refuted) {
  const Opened run = open(k_jaeger);
  ASSERT_TRUE(run) << run.error().message;
  tables::EdgeList& list = (*run)->list;
  std::swap(list.cause_clock[0], list.effect_clock[0]);
  const Result<void> other = (*run)->verify_claims();
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::internal);
  EXPECT_THAT(other.error().message, testing::HasSubstr("no such relation"));
  std::swap(list.cause_clock[0], list.effect_clock[0]);
  ASSERT_TRUE((*run)->verify_claims());
  for (auto* array : {&list.cause_clock, &list.effect_clock}) array->push_back((*array)[0]);
  for (auto* array : {&list.cause_time, &list.effect_time}) array->push_back((*array)[0]);
  EXPECT_THAT((*run)->verify_claims().error().message, testing::HasSubstr("used twice"));
}

TEST_F(SpanClaims, without_their_spans_or_relations_are_refuted) {
  const std::string text = k_jaeger;
  const Opened run = open(text);
  ASSERT_TRUE(run) << run.error().message;
  const auto with = [&](std::string_view part, std::string_view other) {
    std::string changed = text;
    changed.replace(changed.find(part), part.size(), other);
    EXPECT_TRUE(open(changed));
    return (*run)->verify_claims().has_value();
  };
  EXPECT_TRUE(with("get", "put"));
  EXPECT_FALSE(with(R"("spanID":"a"}])", R"("spanID":"c"}])"));        // another parent
  EXPECT_FALSE(with(R"("spanID":"a",)", R"("spanID":"d",)"));          // the parent is missing
  EXPECT_FALSE(with(R"("value":"server")", R"("value":"internal")"));  // nobody waits for its end
  EXPECT_FALSE(with("110.5", "110.501"));
  EXPECT_FALSE(with("10.0.0.1", "10.0.0.2"));
}

}  // namespace
}  // namespace entrain::spans
