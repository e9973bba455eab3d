// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/source_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "formats/spans/spans_testing.hpp"

namespace entrain::spans {
namespace {

using testing::HasSubstr;

std::vector<ClockMap> maps_of(const Spans& spans, std::int64_t shift_of_b) {
  std::vector<ClockMap> maps;
  for (const std::string& name : spans.clocks.all()) {
    maps.push_back(name == "b" ? ClockMap().shifted(shift_of_b) : ClockMap());
  }
  return maps;
}

TEST(SpansPatch, only_the_digits_of_times_change) {
  std::string expected = k_otlp;
  const auto replace = [&](const char* from, const char* with) {
    expected.replace(expected.find(from), std::string_view(from).size(), with);
  };
  replace("1700000000000000050", "1700000000000000173");
  replace("1700000000000000700", "1700000000000000823");
  const Read read = read_all(k_otlp);
  EXPECT_EQ(patched(k_otlp, read.stamps, maps_of(read.spans, 123)), expected);
  EXPECT_EQ(patched(k_otlp, read.stamps, maps_of(read.spans, 0)), k_otlp);
}

TEST(SpansPatch, parts_get_their_new_sizes) {
  const std::string text =
      zipkin_of({{"1", "", "", "b", 9, 5}, {"2", "1", "", "b", 8, 5}}) + "\n\n";
  const std::size_t first = text.find('\n') + 1;
  const Read read = read_all(text);
  std::vector<std::size_t> sizes{first, text.size() - 1 - first, 1};
  const auto moved = patched(text, read.stamps, maps_of(read.spans, 100'000), {}, sizes);
  ASSERT_TRUE(moved);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{first + 2, text.size() + 1 - first, 1}));
  EXPECT_EQ(moved->size(), sizes[0] + sizes[1] + sizes[2]);
}

/// Times that move with their host, by 123 us, need neither an id nor a second time.
TEST(SpansPatch, spans_without_an_id_or_an_end_move_with_their_host) {
  const auto moved = [](const std::string& text) {
    const Read read = read_all(text);
    return *patched(text, read.stamps, maps_of(read.spans, 123'000));
  };
  const std::string zipkin =
      R"([{{"traceId":"a","id":"1","timestamp":{},"duration":5,"localEndpoint":{{"serviceName":"b"}}}},
{{"timestamp":{},"duration":7,"localEndpoint":{{"serviceName":"b"}}}},
{{"traceId":"a","timestamp":{},"localEndpoint":{{"serviceName":"b"}}}}])";
  const auto in = [](const std::string& form, int by) {
    return fmt::format(fmt::runtime(form), 1000 + by, 2000 + by, 3000 + by);
  };
  EXPECT_EQ(moved(in(zipkin, 0)), in(zipkin, 123));
  const std::string jaeger =
      R"({{"data":[{{"spans":[
{{"traceID":"a","spanID":"1","operationName":"x","startTime":{},"duration":5,"processID":"p"}},
{{"operationName":"x","startTime":{},"duration":5,"processID":"p"}},
{{"traceID":"a","operationName":"x","startTime":{},"processID":"p"}}],
"processes":{{"p":{{"serviceName":"b"}}}}}}]}})";
  EXPECT_EQ(moved(in(jaeger, 0)), in(jaeger, 123));
  const std::string otlp =
      R"({{"resourceSpans":[{{"resource":{{"attributes":[{{"key":"host.name","value":
{{"stringValue":"b"}}}}]}},"scopeSpans":[{{"spans":[
{{"traceId":"a","spanId":"1","startTimeUnixNano":"{0}000","endTimeUnixNano":"{0}000"}},
{{"startTimeUnixNano":"{1}000","endTimeUnixNano":"{1}000"}},
{{"traceId":"a","spanId":"2","startTimeUnixNano":"{2}000"}},
{{"traceId":"a","spanId":"3","endTimeUnixNano":"{2}000"}}]}}]}}]}})";
  EXPECT_EQ(moved(in(otlp, 0)), in(otlp, 123));
}

/// The text with marks where the clock of host b moves by 123,000 ns: by a reading of all spans,
/// and the same by one of their times alone.
std::string marked(std::string text) {
  Read result, times;
  std::vector<Mark> marks;
  TextSoFar only_times{.only_times = true};
  EXPECT_TRUE(read(text, "file", times.spans, &times.stamps, &marks, &only_times));
  EXPECT_TRUE(times.spans.all.empty());
  EXPECT_EQ(times.spans.ids.size(), 0U);
  const auto by_times = patched(text, times.stamps, maps_of(times.spans, 123'000), marks);
  marks.clear();
  EXPECT_TRUE(read(text, "file", result.spans, &result.stamps, &marks));
  const auto done = patched(text, result.stamps, maps_of(result.spans, 123'000), marks);
  EXPECT_TRUE(done);
  EXPECT_EQ(*done, by_times.value_or(""));
  const auto again = read_all(*done);  // still a text of spans
  EXPECT_EQ(again.spans.all.size(), result.spans.all.size());
  return *done;
}

TEST(SpansPatch, marks_stand_in_or_before_what_a_span_has) {
  const std::string otlp =
      R"({"resourceSpans":[{"resource":{"attributes":[{"key":"host.name",)"
      R"("value":{"stringValue":"b"}}]},"scopeSpans":[{"spans":[{"spanId":"1",)"
      R"("traceId":"1","startTimeUnixNano":"5000","endTimeUnixNano":"6000")";
  const std::string mark = R"({"key":"entrain.offset_ns","value":{"intValue":"123000"}})";
  EXPECT_THAT(marked(otlp + "}]}]}]}"), HasSubstr(R"({"attributes":[)" + mark + R"(],"spanId")"));
  EXPECT_THAT(marked(otlp + R"(,"attributes":[ ]}]}]}]})"), HasSubstr("[" + mark + " ]"));
  EXPECT_THAT(marked(otlp + R"(,"attributes":[{"key":"x"}]}]}]}]})"),
              HasSubstr("[" + mark + R"(,{"key":"x"}])"));
  EXPECT_THAT(marked(otlp + R"(,"attributes":[)" + mark + "]}]}]}]}"),
              HasSubstr("\"attributes\":[" + mark + "]"));
  EXPECT_EQ(marked(otlp + "}]}]}]}\n" + otlp + R"(,"attributes":[)"),
            marked(otlp + "}]}]}]}") + "\n" + otlp + R"(,"attributes":[)");
  const std::string zipkin = R"([{"traceId":"1","id":"1","timestamp":5,"duration":1,)"
                             R"("localEndpoint":{"serviceName":"b"})";
  EXPECT_THAT(marked(zipkin + "}]"), HasSubstr(R"([{"tags":{"entrain.offset_ns":"123000"},"tr)"));
  EXPECT_THAT(marked(zipkin + R"(,"tags":{"a":"b"}}])"),
              HasSubstr(R"({"entrain.offset_ns":"123000","a":"b"})"));
  EXPECT_THAT(marked(R"({"data":[{"spans":[{"traceID":"1","spanID":"1","startTime":5,"duration":1,)"
                     R"("processID":"p","tags":[]}],"processes":{"p":{"serviceName":"b"}}}]})"),
              HasSubstr(R"("tags":[{"key":"entrain.offset_ns","type":"int64","value":123000}])"));
}

TEST(SpansPatch, microseconds_become_the_nearest_ones) {
  const std::string text =
      zipkin_of({{"1", "", "CLIENT", "a", 40, 60}, {"2", "1", "SERVER", "b", 50, 30}});
  const Read read = read_all(text);
  const auto shifted = [&](std::uint64_t begin) {
    return zipkin_of({{"1", "", "CLIENT", "a", 40, 60}, {"2", "1", "SERVER", "b", begin, 30}});
  };
  EXPECT_EQ(patched(text, read.stamps, maps_of(read.spans, 1499)), shifted(51));
  EXPECT_EQ(patched(text, read.stamps, maps_of(read.spans, 1500)), shifted(52));
  const auto before_time = patched(text, read.stamps, maps_of(read.spans, -60'000));
  ASSERT_FALSE(before_time);
  EXPECT_THAT(before_time.error().message, HasSubstr("would become negative"));
}

/// The text as it is written where the clock of host b moves by so many ns.
std::string moved(const std::string& text, std::int64_t by) {
  const Read read = read_all(text);
  const auto done = patched(text, read.stamps, maps_of(read.spans, by));
  EXPECT_TRUE(done);
  return done.value_or("");
}

TEST(SpansPatch, times_with_decimals_move_to_the_ns) {
  const std::string form =
      R"([{{"traceId":"1","id":"1","timestamp":{},"duration":7.5,"annotations":[{{"timestamp":{},)"
      R"("value":"x"}}],"localEndpoint":{{"serviceName":"b"}}}}])";
  const auto in = [&](const char* begin, const char* instant) {
    return fmt::format(fmt::runtime(form), begin, instant);
  };
  EXPECT_EQ(moved(in("1690000000000000.5", "1690000000000003"), 1'234),
            in("1690000000000001.734", "1690000000000004.234"));
  EXPECT_EQ(moved(in("1.6900000000000005e15", "1690000000000003"), 2'000),
            in("1690000000000002.5", "1690000000000005"));
  EXPECT_EQ(moved(in("1690000000000000.5", "1690000000000003.000"), 0),
            in("1690000000000000.5", "1690000000000003.000"));
}

TEST(SpansPatch, otlp_times_with_decimals_and_exponents_become_whole_ns) {
  const std::string form =
      R"({{"resourceSpans":[{{"resource":{{"attributes":[{{"key":"host.name","value":
{{"stringValue":"b"}}}}]}},"scopeSpans":[{{"spans":[
{{"traceId":"a","spanId":"1","startTimeUnixNano":{},"endTimeUnixNano":{}}}]}}]}}]}})";
  const auto in = [&](const char* begin, const char* end) {
    return fmt::format(fmt::runtime(form), begin, end);
  };
  EXPECT_EQ(moved(in(R"("1690000000000000000.0")", "1.69e+18"), 7),
            in(R"("1690000000000000007")", "1690000000000000007"));
}

/// Jaeger's storage writes the begin of a span again, in ms that are cut off.
TEST(SpansPatch, milliseconds_beside_a_begin_follow_it) {
  const std::string form =
      R"({{"traceID":"a","spanID":"1","operationName":"x","startTime":{},"startTimeMillis":{},)"
      R"("duration":5,"process":{{"serviceName":"b"}}}})";
  const auto in = [&](std::uint64_t us, std::uint64_t ms) {
    return fmt::format(fmt::runtime(form), us, ms);
  };
  EXPECT_EQ(moved(in(1'690'000'000'000'900, 1'690'000'000'000), 100'000),
            in(1'690'000'000'001'000, 1'690'000'000'001));
  EXPECT_EQ(moved(in(1'690'000'000'000'900, 1'690'000'000'000), 50'000),
            in(1'690'000'000'000'950, 1'690'000'000'000));
  EXPECT_EQ(moved(in(1'690'000'000'000'900, 1'690'000'000'007), 2'000'000),
            in(1'690'000'000'002'900, 1'690'000'000'009));
}

}  // namespace
}  // namespace entrain::spans
