// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/spans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/edge_list.hpp"
#include "base/memory_room.hpp"
#include "formats/spans/edges.hpp"
#include "formats/spans/spans_testing.hpp"

namespace entrain::spans {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::string error_of(std::string text) {
  Read result;
  const auto done = read(text, "file", result.spans, &result.stamps);
  return done ? "" : done.error().message;
}

/// Edges as text, e.g. "a:1000 -> b:900".
std::vector<std::string> lines_of(const Found& edges) {
  std::vector<std::string> lines;
  const EdgeList list = list_of(edges.found);
  for (std::size_t i = 0; i < list.cause_clock.size(); ++i) {
    lines.push_back(edges.identity.clocks.clocks[list.cause_clock[i]].name + ":" +
                    std::to_string(list.cause_time[i]) + " -> " +
                    edges.identity.clocks.clocks[list.effect_clock[i]].name + ":" +
                    std::to_string(list.effect_time[i]));
  }
  return lines;
}

std::vector<std::string> edges_in(const std::string& text) {
  return lines_of(edges_of(read_all(text).spans));
}

/// A call from a to b in OTLP; the resource of b stands behind its spans.

TEST(Spans, otlp_gives_a_begin_and_an_end_between_hosts) {
  EXPECT_THAT(edges_in(k_otlp), ElementsAre("a:1700000000000000100 -> b:1700000000000000050",
                                            "b:1700000000000000700 -> a:1700000000000000900"));
}

/// A span of these members.
std::string otlp_span_of(const std::string& members) {
  return R"({"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"1",)" + members + "}]}]}]}";
}

TEST(Spans, keys_and_strings_may_have_escapes_and_blanks) {
  const std::string plain =
      R"("spanId":"2a","name":"a\"b","startTimeUnixNano":"17","endTimeUnixNano":18)";
  const std::string escaped =
      "\"\\u0073panId\" : \"\\u0032a\" , \"name\":\n\"a\\u0022b\", "
      "\"startTimeUnixNano\"\t:\t\"17\" ,\"end_time_unix_nano\" : 18 ";
  for (const std::string& members : {plain, escaped}) {
    const Read read = read_all(otlp_span_of(members));
    ASSERT_EQ(read.spans.all.size(), 1U) << members;
    EXPECT_EQ(read.spans.ids.id_of(read.spans.all[0].id), "2a");
    EXPECT_EQ(read.spans.operations.all()[0], "a\"b");
    EXPECT_EQ(read.spans.all[0].begin, 17U);
    EXPECT_EQ(read.spans.all[0].end, 18U);
  }
  EXPECT_THAT(error_of(otlp_span_of(R"("spanId":"\q")")), HasSubstr("damaged JSON"));
}

TEST(Spans, a_time_is_a_number_of_any_length_and_nothing_else) {
  const auto begin_of = [](const std::string& time) {
    const Read read = read_all(otlp_span_of(
        R"("spanId":"2","endTimeUnixNano":"1700000000000000000","startTimeUnixNano":")" + time +
        '"'));
    return read.spans.all.empty() ? 0 : read.spans.all[0].begin;
  };
  const std::string digits = "1234567890123456789";
  for (std::size_t size = 1; size <= digits.size(); ++size) {
    EXPECT_EQ(begin_of(digits.substr(0, size)), std::stoull(digits.substr(0, size)));
    for (std::size_t i = 0; i < size; ++i) {
      for (const char wrong : {'/', ':', ' ', 'A', '-', '\x7f'}) {
        std::string time = digits.substr(0, size);
        time[i] = wrong;
        EXPECT_EQ(begin_of(time), 0U) << time;
      }
    }
  }
  EXPECT_EQ(begin_of("0000" + digits), std::stoull(digits));
  EXPECT_EQ(begin_of("12345678901234567890"), 0U);
}

TEST(Spans, lines_of_otlp_are_one_run) {
  std::string text = k_otlp;
  std::erase(text, '\n');
  const Read read = read_all(text + "\n\n" + text + "\n");
  EXPECT_EQ(read.spans.all.size(), 4U);
  EXPECT_THAT(edges_of(read.spans).counters, ElementsAre(Pair("duplicate_spans", 2U)));
  EXPECT_THAT(error_of(text + "\n{\"resourceSpans\":[\n" + text),
              HasSubstr("file:2: this is damaged JSON"));
}

TEST(Spans, the_last_line_of_a_collector_that_was_killed_is_ignored) {
  std::string text = k_otlp;
  std::erase(text, '\n');
  for (const std::size_t size : {std::size_t{1}, text.size() / 2, text.size() - 1}) {
    const Read cut = read_all(text + "\n" + text.substr(0, size));
    EXPECT_EQ(cut.spans.all.size(), 2U);
    EXPECT_EQ(cut.spans.cut_files, 1U);
    EXPECT_EQ(cut.stamps.size(), read_all(text).stamps.size());
  }
}

/// Two spans of a trace, one on each of two hosts, as elements of documents.
constexpr const char* k_zipkin_client =
    R"({"traceId":"463ac35c9f6413ad48485a3953bb6124","id":"5","kind":"CLIENT","name":"get",
"timestamp":1000,"duration":500,"localEndpoint":{"serviceName":"front"}})";
constexpr const char* k_zipkin_server =
    R"({"traceId":"463ac35c9f6413ad48485a3953bb6124","id":"6","parentId":"5","kind":"SERVER",
"name":"get","timestamp":1100,"duration":300,"localEndpoint":{"serviceName":"back"}})";
constexpr const char* k_jaeger_trace =
    R"({"traceID":"a","spans":[
{"traceID":"a","spanID":"1","operationName":"x","startTime":1000,"duration":500,"processID":"p1",
"tags":[{"key":"span.kind","value":"client"}]},
{"traceID":"a","spanID":"2","operationName":"x","startTime":1100,"duration":300,
"references":[{"refType":"CHILD_OF","traceID":"a","spanID":"1"}],"processID":"p2",
"tags":[{"key":"span.kind","value":"server"}]}],
"processes":{"p1":{"serviceName":"front"},"p2":{"serviceName":"back"}}})";

std::string one_line(std::string text) {
  std::erase(text, '\n');
  return text;
}

TEST(Spans, documents_are_recognised_by_their_keys_however_many_there_are) {
  const std::string client = one_line(k_zipkin_client), server = one_line(k_zipkin_server);
  const std::string trace = one_line(k_jaeger_trace), otlp = one_line(k_otlp);
  for (const std::string& text :
       {client + "\n" + server + "\n", "[" + client + "]\n[" + server + "]\n",
        "\n\n" + client + "\r\n\r\n" + server + "\r\n", client + server, trace, "[" + trace + "]",
        std::string(k_jaeger_trace), "{\"data\":[" + trace + "]}", "[" + otlp + "]",
        R"({"_source":)" + client + "}\n" + R"({"_source":)" + server + "}",
        std::string(k_zipkin_client) + "\n" + k_zipkin_server}) {
    const Read read = read_all(text);
    EXPECT_EQ(read.spans.all.size(), 2U) << text;
    EXPECT_EQ(edges_of(read.spans).found.size(), 2U) << text;
    EXPECT_EQ(read.spans.cut_files, 0U) << text;
  }
}

TEST(Spans, the_last_of_several_documents_may_be_cut_off) {
  const std::string text = std::string(k_otlp) + k_otlp;
  const Read cut = read_all(text.substr(0, text.size() - 1));
  EXPECT_EQ(cut.spans.all.size(), 2U);
  EXPECT_EQ(cut.spans.cut_files, 1U);
  EXPECT_THAT(error_of(std::string(k_otlp) + "{]" + k_otlp),
              HasSubstr("file, document 2: this is"));
}

TEST(Spans, jaeger_may_have_the_process_in_the_span) {
  const Read read = read_all(
      R"({"traceID":"a","spanID":"1","operationName":"x","startTime":1000,"duration":5,
"process":{"serviceName":"front","tags":[{"key":"hostname","value":"h1"}]}})");
  ASSERT_EQ(read.spans.all.size(), 1U);
  EXPECT_EQ(read.spans.groups.all()[read.spans.facts[read.spans.all[0].clock].group], "h1");
}

TEST(Spans, services_that_keep_half_of_a_traces_name_are_joined_to_the_others) {
  std::string server = k_zipkin_server;
  server.replace(server.find("463ac35c9f6413ad"), 16, "");
  const std::string text = std::string("[") + k_zipkin_client + "," + server + "]";
  Read read = read_all(text);
  join_halved_traces(read.spans);
  EXPECT_EQ(edges_of(read.spans).found.size(), 2U);
  // Two traces that share the half: nobody knows which one is meant, whatever their spans are.
  std::string other = k_zipkin_client;
  other.replace(other.find("463ac35c"), 8, "55555555");
  read = read_all(std::string("[") + k_zipkin_client + "," + other + "," + server + "]");
  join_halved_traces(read.spans);
  EXPECT_TRUE(edges_of(read.spans).found.empty());
  other.replace(other.find("\"id\""), 4, "\"no\"");
  other.insert(1, R"("id": "9", )");
  read = read_all(std::string("[") + k_zipkin_client + "," + other + "," + server + "]");
  join_halved_traces(read.spans);
  EXPECT_TRUE(edges_of(read.spans).found.empty());
}

TEST(Spans, jaeger_has_its_hosts_behind_the_spans) {
  EXPECT_THAT(
      edges_in(
          R"({"data":[{"traceID":"a","spans":[
{"traceID":"a","spanID":"1","operationName":"x","startTime":1000,"duration":500,"processID":"p1",
"tags":[{"key":"span.kind","type":"string","value":"client"}]},
{"traceID":"000a","spanID":"2","operationName":"y","startTime":1100,"duration":300,"processID":"p2",
"references":[{"refType":"CHILD_OF","traceID":"a","spanID":"1"}],
"tags":[{"key":"span.kind","value":"server"}]},
{"traceID":"a","spanID":"3","operationName":"z","startTime":1200,"duration":9000,"processID":"p1",
"references":[{"refType":"FOLLOWS_FROM","traceID":"a","spanID":"2"}]}],
"processes":{"p1":{"serviceName":"s"},
"p2":{"serviceName":"t","tags":[{"key":"hostname","value":"h"}]}}}]})"),
      ElementsAre("s:1000000 -> h:1100000", "h:1400000 -> s:1500000", "h:1100000 -> s:1200000"));
}

TEST(Spans, halves_of_a_zipkin_span_share_their_id) {
  const std::vector<std::string> edges =
      edges_in(zipkin_of({{"2", "1", "SERVER", "b", 50, 30}, {"2", "1", "CLIENT", "a", 40, 60}}));
  EXPECT_THAT(edges, ElementsAre("a:40000 -> b:50000", "b:80000 -> a:100000"));
}

TEST(Spans, a_consumer_only_begins_after_its_producer) {
  EXPECT_THAT(edges_in(zipkin_of(
                  {{"1", "", "PRODUCER", "a", 40, 60}, {"2", "1", "CONSUMER", "b", 50, 900}})),
              ElementsAre("a:40000 -> b:50000"));
}

TEST(Spans, ends_of_clients_that_gave_up_are_dropped_and_counted) {
  const Found edges = edges_of(read_all(zipkin_of({{"1", "", "CLIENT", "a", 1000, 100},
                                                   {"2", "1", "SERVER", "b", 1010, 5000},
                                                   {"3", "", "CLIENT", "a", 9000, 100},
                                                   {"4", "3", "SERVER", "b", 9010, 80}}))
                                   .spans);
  EXPECT_THAT(lines_of(edges), ElementsAre("a:1000000 -> b:1010000", "a:9000000 -> b:9010000",
                                           "b:9090000 -> a:9100000"));
  ASSERT_EQ(edges.rejected.operations.size(), 1U);
  EXPECT_EQ(edges.rejected.operations[0].operation, "get");
  EXPECT_EQ(edges.rejected.operations[0].dropped, 1U);
  EXPECT_EQ(edges.rejected.operations[0].total, 2U);
  EXPECT_THAT(edges.counters, ElementsAre(Pair("contradicted_ends", 1U)));
}

TEST(Spans, begins_of_other_calls_contradict_an_end_in_either_order) {
  // Only the first call, whose begin is close, shows that the second one's end is too late.
  const std::vector<Call> quick{{"1", "", "CLIENT", "a", 1000, 100},
                                {"2", "1", "SERVER", "b", 1001, 9}};
  const std::vector<Call> slow{{"3", "", "CLIENT", "a", 3000, 100},
                               {"4", "3", "SERVER", "b", 3050, 60}};
  std::vector<Call> later = slow;
  for (Call& call : later) call.begin -= 2900;
  for (const auto& other : {slow, later}) {
    std::vector<Call> calls = quick;
    calls.insert(calls.end(), other.begin(), other.end());
    EXPECT_THAT(edges_of(read_all(zipkin_of(calls)).spans).counters,
                ElementsAre(Pair("contradicted_ends", 1U)));
  }
  EXPECT_THAT(edges_of(read_all(zipkin_of(slow)).spans).counters, IsEmpty());
}

TEST(Spans, ends_of_an_operation_that_nobody_waits_for_are_dropped) {
  // The server's span fits into the client's one in the last call, which a wrong clock would
  // explain.
  std::vector<Call> calls{
      {"1", "", "CLIENT", "a", 1003, 100}, {"2", "1", "SERVER", "b", 1017, 5000},
      {"3", "", "CLIENT", "a", 9003, 100}, {"4", "3", "SERVER", "b", 9017, 80},
      {"5", "", "CLIENT", "c", 9003, 100}, {"6", "5", "SERVER", "d", 9080, 80}};
  EXPECT_THAT(edges_of(read_all(zipkin_of(calls)).spans).counters,
              ElementsAre(Pair("contradicted_ends", 2U), Pair("ends_nobody_waits_for", 1U)));
  calls[3].length = 5000;
  const Found edges = edges_of(read_all(zipkin_of(calls)).spans);
  EXPECT_THAT(edges.counters, ElementsAre(Pair("contradicted_ends", 3U)));
  EXPECT_THAT(lines_of(edges), ElementsAre("a:1003000 -> b:1017000", "a:9003000 -> b:9017000",
                                           "c:9003000 -> d:9080000"));
}

TEST(Spans, a_wrong_clock_loses_no_end) {
  const Found edges = edges_of(read_all(zipkin_of({{"1", "", "CLIENT", "a", 1000, 100},
                                                   {"2", "1", "SERVER", "b", 9010, 80},
                                                   {"3", "", "CLIENT", "a", 4000, 100},
                                                   {"4", "3", "SERVER", "b", 12005, 90}}))
                                   .spans);
  EXPECT_EQ(lines_of(edges).size(), 4U);
  EXPECT_THAT(edges.rejected.operations, IsEmpty());
}

TEST(Spans, what_is_odd_is_counted) {
  const Found edges = edges_of(read_all(zipkin_of({{"1", "7", "", "a", 1000, 100},
                                                   {"1", "7", "", "b", 1000, 100},
                                                   {"2", "3", "", "a", 1000, 100},
                                                   {"3", "2", "", "b", 1000, 100},
                                                   {"4", "4", "", "b", 1000, 100},
                                                   {"", "4", "", "b", 1000, 100},
                                                   {"5", "", "", "b", 0, 100},
                                                   {"6", "", "", "b", ~0ULL / 2, 100}}))
                                   .spans);
  EXPECT_THAT(lines_of(edges), IsEmpty());
  EXPECT_THAT(
      edges.counters,
      ElementsAre(Pair("spans_without_id", 1U), Pair("spans_without_time", 2U),
                  Pair("times_that_stay", 1U), Pair("duplicate_spans", 1U),
                  Pair("spans_without_their_parent", 1U), Pair("spans_in_circles_of_parents", 3U)));
}

TEST(Spans, a_client_without_a_length_has_no_end) {
  std::string text =
      zipkin_of({{"1", "", "CLIENT", "a", 1003, 0}, {"2", "1", "SERVER", "b", 1017, 0}});
  const auto only_begin = ElementsAre("a:1003000 -> b:1017000");
  EXPECT_THAT(edges_in(text), only_begin);
  EXPECT_THAT(edges_of(read_all(text).spans).counters,
              ElementsAre(Pair("calls_without_a_length", 1U)));
  for (const char* length : {"-5", "\"\"", "0.0", "null"}) {
    std::string odd = text;
    const std::string zero = R"("duration":0)";
    odd.replace(odd.find(zero), zero.size(), std::string(R"("duration":)") + length);
    EXPECT_THAT(edges_in(odd), only_begin) << length;
  }
}

TEST(Spans, times_and_lengths_may_have_decimals_and_exponents) {
  EXPECT_THAT(edges_in(R"([{"traceId":"1","id":"1","kind":"CLIENT","timestamp":1.69e3,
"duration":"12.5","localEndpoint":{"serviceName":"a"}},
{"traceId":"1","id":"2","parentId":"1","kind":"SERVER","timestamp":1691.25,"duration":0.5e1,
"localEndpoint":{"serviceName":"b"}}])"),
              ElementsAre("a:1690000 -> b:1691250", "b:1696250 -> a:1702500"));
}

TEST(Spans, times_that_are_no_numbers_are_counted_and_the_first_is_named) {
  const Read read =
      read_all(zipkin_of({{"1", "", "CLIENT", "a", 1000, 5}}).insert(1, R"({"traceId":"1","id":"5",
"timestamp":"soon","duration":-4,"annotations":[{"timestamp":1e30},{"timestamp":0},
{"timestamp":null},{"timestamp":""},{"timestamp":1e-2147483648},{"timestamp":1e+-5}]},)"));
  EXPECT_EQ(read.spans.immovable_times, 5U);
  EXPECT_EQ(read.spans.first_immovable_time, "'1e30' in file");
  EXPECT_THAT(edges_of(read.spans).counters,
              ElementsAre(Pair("spans_without_time", 1U), Pair("times_that_stay", 5U)));
}

TEST(Spans, what_a_client_does_itself_is_not_called_by_the_server_of_its_id) {
  // 3 is work of the client's host before the server begins; 4 is the server's.
  EXPECT_THAT(edges_in(zipkin_of({{"2", "", "CLIENT", "a", 40, 60},
                                  {"2", "", "SERVER", "b", 50, 30},
                                  {"3", "2", "", "a", 42, 3},
                                  {"4", "2", "", "c", 60, 3}})),
              ElementsAre("a:40000 -> b:50000", "b:80000 -> a:100000", "b:50000 -> c:60000"));
}

TEST(Spans, ids_may_have_either_case) {
  std::string text = k_otlp;
  const std::string trace = R"("traceId":"0A")";
  text.replace(text.find(trace), trace.size(), R"("traceId":"a")");
  EXPECT_EQ(edges_in(text), edges_in(k_otlp));
}

TEST(Spans, ids_of_zeros_alone_are_none_in_base64_too) {
  std::string text = k_otlp;
  const std::string kind = R"("kind":3)";
  text.replace(text.find(kind), kind.size(), R"("kind":3,"parentSpanId":"AAAAAAAAAAA=")");
  EXPECT_THAT(edges_of(read_all(text).spans).counters, IsEmpty());
}

TEST(Spans, keys_may_be_those_of_protobuf) {
  std::string text = k_otlp;
  for (const auto& [name, other] : std::vector<std::pair<std::string, std::string>>{
           {"resourceSpans", "resource_spans"},
           {"scopeSpans", "instrumentation_library_spans"},
           {"traceId", "trace_id"},
           {"spanId", "span_id"},
           {"parentSpanId", "parent_span_id"},
           {"stringValue", "string_value"},
           {"startTimeUnixNano", "start_time_unix_nano"},
           {"endTimeUnixNano", "end_time_unix_nano"},
           {"timeUnixNano", "time_unix_nano"}}) {
    for (std::size_t at = 0; (at = text.find('"' + name + '"', at)) != std::string::npos;) {
      text.replace(at + 1, name.size(), other);
    }
  }
  EXPECT_EQ(edges_in(text), edges_in(k_otlp));
  EXPECT_EQ(read_all(text).stamps.size(), read_all(k_otlp).stamps.size());
}

TEST(Spans, a_mark_of_byte_order_is_passed_over) {
  std::string lines = k_otlp;
  std::erase(lines, '\n');
  for (const std::string& text : {std::string(k_otlp), lines + "\n" + lines}) {
    EXPECT_EQ(edges_in("\xEF\xBB\xBF" + text), edges_in(text));
  }
}

TEST(Spans, children_of_other_traces_are_links) {
  // Spans of both traces have the same ids; the reference stands before the trace that it is in.
  EXPECT_THAT(edges_in(R"({"data":[{"spans":[
{"references":[{"refType":"CHILD_OF","traceID":"a","spanID":"1"}],
"traceID":"b","spanID":"1","operationName":"x","startTime":1100,"duration":5,"processID":"p2"},
{"traceID":"a","spanID":"1","operationName":"y","startTime":1000,"duration":5,"processID":"p1"}],
"processes":{"p1":{"serviceName":"s"},"p2":{"serviceName":"t"}}}]})"),
              ElementsAre("s:1000000 -> t:1100000"));
}

TEST(Spans, damaged_files_are_refused_in_a_sentence) {
  const std::string text = k_otlp;
  for (std::size_t size = 1; size < text.size(); ++size) {
    EXPECT_NE(error_of(text.substr(0, size)), "") << size;
  }
  EXPECT_THAT(error_of(""), HasSubstr("file: this is damaged JSON"));
  EXPECT_THAT(error_of("{\"a\":1}"), HasSubstr("these are no spans"));
  EXPECT_THAT(error_of(std::string(100'000, '[')), HasSubstr("damaged"));
  EXPECT_THAT(error_of(text + "x"), HasSubstr("damaged"));
}

/// A hole from inside a value to inside a key of an object in it.
TEST(Spans, a_value_before_a_colon_is_no_key) {
  std::string text =
      R"([{"traceId":"1","id":"2","timestamp":1760000000000000,"duration":5,"kind":"CLIENT":"x"},)"
      R"("localEndpoint":{"serviceName":"s"}}])";
  Spans spans;
  const auto refused = read(text, "file", spans);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("damaged JSON"));
}

TEST(Spans, memory_for_more_is_refused) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) {
    text += zipkin_of({{.id = std::to_string(i),
                        .parent = "",
                        .kind = "SERVER",
                        .host = "h",
                        .begin = 1'600'000'000'000'000}});
    text += '\n';
  }
  Read result;
  set_memory_room(std::uint64_t{8} << 20);
  const auto refused = read(text, "file", result.spans, &result.stamps);
  set_memory_room(0);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("file: what is read takes more memory"));
}

}  // namespace
}  // namespace entrain::spans
