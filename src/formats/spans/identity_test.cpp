// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/identity.hpp"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "formats/spans/draft.hpp"
#include "formats/spans/spans_testing.hpp"

namespace entrain::spans {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t k_us = 1'760'000'000'000'000;  // since 1970

/// Shows the time of a call of a number, us, at a place.
using Clock = std::function<std::uint64_t(int call, std::uint64_t time)>;

std::uint64_t right(int, std::uint64_t time) { return time; }

/// Calls of a client to a server, 0.1 s apart; `tags` are of the client.
std::string calls(
    int count, const std::string& client, const Clock& shows,
    const std::function<std::string(int)>& tags = [](int) { return ""; }) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t begin = k_us + static_cast<std::uint64_t>(i) * 100'003;
    text +=
        fmt::format(R"({}{{"traceId":"a{}","id":"1","kind":"CLIENT","name":"get","timestamp":{},)"
                    R"("duration":3000,"localEndpoint":{{"serviceName":"{}"}},"tags":{{{}}}}},)"
                    R"({{"traceId":"a{}","id":"2","parentId":"1","kind":"SERVER","name":"get",)"
                    R"("timestamp":{},"duration":2000,"localEndpoint":{{"serviceName":"api"}}}},)"
                    R"({{"traceId":"a{}","id":"3","parentId":"2","kind":"CLIENT","name":"sql",)"
                    R"("timestamp":{},"duration":900,"localEndpoint":{{"serviceName":"api"}}}},)"
                    R"({{"traceId":"a{}","id":"4","parentId":"3","kind":"SERVER","name":"sql",)"
                    R"("timestamp":{},"duration":400,"localEndpoint":{{"serviceName":"db"}}}})",
                    text.empty() ? "" : ",\n", i, shows(i, begin), client, tags(i), i, begin + 500,
                    i, begin + 700, i, begin + 900);
  }
  return "[" + text + "]";
}

/// A span of a call, in OTLP: number 1 is the client's, number 2 the server's. `attributes`: of its
/// place, in JSON.
std::string half_of_call(const std::string& attributes, int call, int id, std::uint64_t from,
                         std::uint64_t to) {
  return fmt::format(
      R"({{"resourceSpans":[{{"resource":{{"attributes":[{}]}},"scopeSpans":[{{"spans":[)"
      R"({{"traceId":"{:x}","spanId":"{}","parentSpanId":"{}","kind":{},)"
      R"("startTimeUnixNano":{},"endTimeUnixNano":{}}}]}}]}}]}})"
      "\n",
      attributes, call + 1, id, id == 1 ? "" : "1", id == 1 ? 3 : 2, from, to);
}
std::string attribute(const char* key, const char* value) {
  return fmt::format(R"({{"key":"{}","value":{{"stringValue":"{}"}}}})", key, value);
}

std::vector<std::string> kinds_of(const Identity& identity) {
  std::vector<std::string> kinds;
  for (const SetAside& one : identity.set_aside) kinds.push_back(one.kind + " of " + one.clock);
  return kinds;
}

TEST(Place, takes_the_first_address_that_few_machines_share) {
  EXPECT_EQ(address_in("127.0.0.1\nfe80::1\n172.17.0.1\n10.0.0.5\n10.0.0.6\n"), "10.0.0.5");
  EXPECT_EQ(address_in("2001:db8::7"), "2001:db8::7");
  EXPECT_EQ(address_in("::1\n\n169.254.1.2"), "");
  Place place;
  *place.member("service.name") = "shop";
  *place.member("host.ip") = "10.0.0.5";
  EXPECT_EQ(place.clock(), "shop@10.0.0.5");
}

TEST(Place, is_named_by_the_most_reliable_attribute) {
  Place place;
  EXPECT_EQ(place.clock(), k_unknown_host);
  const auto with = [&](const char* key, const char* value) {
    *place.member(key) = value;
    return place.clock();
  };
  EXPECT_EQ(with("service.name", "unknown_service:java"), k_unknown_host);
  EXPECT_EQ(with("service.name", "shop"), "shop");
  EXPECT_EQ(with("ip", "127.0.0.1"), "shop");
  EXPECT_EQ(place.member("ipv4"), nullptr);
  EXPECT_EQ(with("container.id", "c1"), "shop@c1");
  EXPECT_EQ(with("service.instance.id", "i1"), "shop@i1");
  EXPECT_EQ(with("k8s.pod.name", "pod"), "pod");
  EXPECT_EQ(with("device.id", "phone"), "phone");
  EXPECT_EQ(with("host.name", "localhost"), "phone");
  EXPECT_EQ(with("host.name", "h"), "h");
  EXPECT_EQ(with("host.id", "id"), "id");
  EXPECT_EQ(with("k8s.node.name", "node"), "node");
  EXPECT_EQ(place.part(), "id h phone pod i1 c1 127.0.0.1 shop");
  EXPECT_EQ(place.member_of_span("host.name"), nullptr);
  EXPECT_NE(place.member_of_span("session.id"), nullptr);
}

TEST(Identity, a_name_of_several_clocks_is_divided_where_places_tell) {
  const Clock phones = [](int call, std::uint64_t time) {
    return time + static_cast<std::uint64_t>(call * 7 % 4) * 900'000'000 - 1'200'000'000;
  };
  const auto session = [](int call) { return fmt::format(R"("session.id":"p{}")", call * 7 % 4); };
  const Found told = edges_of(read_all(calls(60, "app", phones, session)).spans);
  EXPECT_EQ(told.identity.clocks.clocks.size(), 6U);
  EXPECT_THAT(told.identity.notes,
              ElementsAre("app is the name of 4 clocks, which other attributes "
                          "tell apart"));
  EXPECT_THAT(told.identity.set_aside, IsEmpty());
  const Found untold = edges_of(read_all(calls(60, "app", phones)).spans);
  EXPECT_EQ(untold.identity.clocks.clocks.size(), 3U);
  EXPECT_THAT(kinds_of(untold.identity), ElementsAre("several_clocks of app"));
  EXPECT_EQ(untold.found.size(), 120U) << "only calls from api to db";
  const Found one = edges_of(read_all(calls(60, "app", right, session)).spans);
  EXPECT_EQ(one.identity.clocks.clocks.size(), 3U);
}

/// Calls to it and from it contradict each other; one name explains both.
TEST(Identity, a_name_of_several_clocks_between_others_is_the_one_that_is_named) {
  Spans spans = read_all(calls(60, "app", right)).spans;
  for (std::size_t i = 0; i < spans.all.size(); ++i) {
    Span& span = spans.all[i];
    const std::uint64_t ahead = (i / 4 * 2'654'435'761U >> 5) % 4 * 260'000'000;
    if (spans.groups.all()[spans.facts[span.clock].group] != "api") continue;
    span.begin += ahead, span.end += ahead;
  }
  const Found found = edges_of(spans);
  EXPECT_THAT(kinds_of(found.identity), ElementsAre("several_clocks of api"));
  EXPECT_EQ(found.identity.set_aside.at(0).records, 120U);
}

/// Replicas that are called: the caller agrees with others.
TEST(Identity, a_name_of_several_clocks_is_not_the_one_that_others_agree_with) {
  Spans spans = read_all(calls(60, "app", right)).spans;
  for (std::size_t i = 0; i < spans.all.size(); ++i) {
    Span& span = spans.all[i];
    const std::uint64_t ahead = (i / 4 * 2'654'435'761U >> 5) % 4 * 260'000'000;
    if (spans.groups.all()[spans.facts[span.clock].group] != "db") continue;
    span.begin += ahead, span.end += ahead;
  }
  EXPECT_THAT(kinds_of(edges_of(spans).identity), ElementsAre("several_clocks of db"));
}

/// All that it shows since comes before all that it showed: no map of its times exchanges them.
TEST(Identity, a_clock_that_was_set_is_no_name_of_several) {
  const Clock set = [](int call, std::uint64_t time) {
    return time - (call < 30 ? 0 : 7'200'000'000);
  };
  const Found found = edges_of(read_all(calls(60, "app", set)).spans);
  ASSERT_EQ(found.identity.clocks.clocks.size(), 4U);
  EXPECT_EQ(found.identity.clocks.clocks[0].events->last,
            (k_us - 7'200'000'000 + 5'903'177) * 1000);
  EXPECT_EQ(found.identity.clocks.clocks[3].name, "app (its clock from 08:53:20.000 UTC on)");
  EXPECT_EQ(found.identity.clocks.clocks[3].events->first, k_us * 1000);
  EXPECT_THAT(found.identity.notes, ElementsAre(HasSubstr("the clock of app was set back")));
  EXPECT_THAT(found.identity.set_aside, IsEmpty());
  EXPECT_EQ(found.found.size(), 240U);
  EXPECT_THAT(found.counters, IsEmpty());
}

/// It runs on from 10 s before the first time that it showed.
TEST(Identity, a_clock_that_was_set_back_and_put_right_again_is_divided_by_its_stamps) {
  const Clock set = [](int call, std::uint64_t time) {
    return time - (call < 20 || call >= 40 ? 0 : 10'000'000);
  };
  const Found found = edges_of(read_all(calls(60, "app", set)).spans);
  ASSERT_EQ(found.identity.clocks.clocks.size(), 4U);
  EXPECT_EQ(found.identity.clocks.clocks[3].events->first, k_us * 1000);
  EXPECT_THAT(found.counters, IsEmpty());
}

/// Spans of OTLP of two services on one host, which differ by `off` ns.
std::string on_one_host(std::int64_t off) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    const std::int64_t begin = static_cast<std::int64_t>(k_us) * 1000 + i * 100'003'000;
    const auto span = [&](const char* service, int id, std::int64_t from, std::int64_t to) {
      return half_of_call(attribute("service.name", service) + "," + attribute("host.name", "n1"),
                          i, id, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to));
    };
    text += span("api", 1, begin, begin + 2'000'000);
    text += span("db", 2, begin + 200'000 + off, begin + 1'500'000 + off);
  }
  return text;
}

/// As where one runs in local time, or in a guest of its own.
TEST(Identity, a_service_may_have_another_clock_than_its_host) {
  constexpr std::int64_t k_hour = 3'600'000'000'000;
  EXPECT_EQ(edges_of(read_all(on_one_host(0)).spans).identity.clocks.clocks.size(), 1U);
  for (const std::int64_t off : {k_hour, -k_hour}) {
    const Found found = edges_of(read_all(on_one_host(off)).spans);
    ASSERT_EQ(found.identity.clocks.clocks.size(), 2U);
    EXPECT_THAT(found.identity.notes, ElementsAre(HasSubstr("has a clock of its own: 20 of 20")));
    EXPECT_EQ(found.found.size(), 40U);
  }
}

/// A queue explains servers that come late: by different times, or all by 2 s.
TEST(Identity, work_of_a_host_that_waits_is_of_its_clock) {
  for (const std::int64_t late : {2'000'000'000, 0}) {
    std::string text;
    for (int i = 0; i < 30; ++i) {
      const std::uint64_t begin = k_us * 1000 + static_cast<std::uint64_t>(i) * 3'100'003'000;
      const std::uint64_t wait = late > 0 ? static_cast<std::uint64_t>(late + i * 997)
                                          : static_cast<std::uint64_t>(i * i % 17) * 31'000'000;
      const auto span = [&](const char* service, int id, std::uint64_t from, std::uint64_t to) {
        return half_of_call(attribute("service.name", service) + "," + attribute("host.name", "n1"),
                            i, id, from, to);
      };
      text += span("api", 1, begin, begin + 300'000);
      text += span("mail", 2, begin + wait, begin + wait + 200'000);
    }
    EXPECT_EQ(edges_of(read_all(text).spans).identity.clocks.clocks.size(), 1U) << late;
  }
}

TEST(Identity, clients_that_give_up_are_no_several_clocks) {
  std::string text = calls(60, "app", right);
  for (std::size_t at = 0; (at = text.find("\"duration\":2000", at)) != std::string::npos; at += 90)
    text.replace(at, 15, "\"duration\":2900");
  EXPECT_THAT(edges_of(read_all(text).spans).identity.set_aside, IsEmpty());
}

TEST(Identity, a_wrong_unit_is_set_aside_and_named) {
  const Clock ms = [](int, std::uint64_t time) { return time / 1000; };
  const Found small = edges_of(read_all(calls(20, "app", ms)).spans);
  EXPECT_THAT(kinds_of(small.identity), ElementsAre("wrong_unit of app"));
  EXPECT_THAT(small.identity.set_aside.at(0).reason,
              HasSubstr("20 of 20 spans of app have times that are 1,000 times too small"));
  EXPECT_TRUE(small.identity.set_aside.at(0).is_decisive);
  EXPECT_EQ(small.found.size(), 40U);
  const Clock ns = [](int, std::uint64_t time) { return time * 1000; };
  const Found large = edges_of(read_all(calls(20, "app", ns)).spans);
  EXPECT_THAT(large.identity.set_aside.at(0).reason,
              HasSubstr("app have times that are 1,000 times too large"));
}

/// It is called and calls; the others are days away from it, and stand still for days.
TEST(Identity, a_wrong_unit_in_the_middle_of_calls_is_that_of_the_clock_there) {
  constexpr std::uint64_t k_days = 200'000'000'000;
  const Clock long_run = [](int call, std::uint64_t time) { return time + (call / 10) * k_days; };
  Spans spans = read_all(calls(30, "app", long_run)).spans;
  for (std::size_t i = 0; i < spans.all.size(); ++i) {
    Span& span = spans.all[i];
    const bool is_wrong = spans.groups.all()[spans.facts[span.clock].group] == "api";
    if (i % 4 != 0) span.begin += i / 40 * k_days * 1000, span.end += i / 40 * k_days * 1000;
    if (is_wrong) span.begin /= 1000, span.end /= 1000;
  }
  const Found found = edges_of(spans);
  EXPECT_THAT(kinds_of(found.identity), ElementsAre("wrong_unit of api"));
  EXPECT_THAT(found.identity.notes, IsEmpty());
  EXPECT_EQ(found.identity.clocks.clocks.size(), 3U);
  EXPECT_THAT(found.found, IsEmpty());
}

TEST(Identity, a_wrong_unit_of_some_spans_is_said_of_these) {
  const Clock two = [](int call, std::uint64_t time) { return call < 2 ? time / 1'000'000 : time; };
  const Found found = edges_of(read_all(calls(40, "app", two)).spans);
  EXPECT_EQ(found.identity.set_aside.at(0).records, 2U);
  EXPECT_THAT(found.identity.set_aside.at(0).reason, HasSubstr("2 of 40 spans of app have times"));
  const Clock one = [](int call, std::uint64_t time) { return call < 1 ? time / 1'000'000 : time; };
  EXPECT_THAT(edges_of(read_all(calls(40, "app", one)).spans).identity.set_aside.at(0).reason,
              HasSubstr("1 of 40 spans of app has times"));
}

TEST(Identity, a_wrong_unit_of_all_spans_is_named) {
  Spans spans = read_all(calls(20, "app", right)).spans;
  for (Span& span : spans.all) span.begin /= 1'000'000, span.end /= 1'000'000;
  const Found found = edges_of(spans);
  EXPECT_THAT(kinds_of(found.identity), ElementsAre("wrong_unit of app"));
  EXPECT_THAT(found.identity.set_aside.at(0).reason, HasSubstr("all spans have times"));
  for (Span& span : spans.all) span.end += 1'000'000;  // uptimes: an hour, and calls of ms
  EXPECT_THAT(edges_of(spans).identity.set_aside, IsEmpty());
}

TEST(Identity, a_clock_of_another_origin_is_a_clock) {
  const Clock uptime = [](int, std::uint64_t time) { return time - k_us + 4'000'000'000; };
  const Found found = edges_of(read_all(calls(20, "app", uptime)).spans);
  EXPECT_THAT(found.identity.set_aside, IsEmpty());
  EXPECT_EQ(found.found.size(), 80U);
}

TEST(Identity, stale_dates_are_of_the_clock_before_it_was_set_and_strays_of_none) {
  const Clock stale = [](int call, std::uint64_t time) {
    return time - (call < 30 ? 31'536'000'000'000 : 0);
  };
  const Found set = edges_of(read_all(calls(60, "app", stale)).spans);
  ASSERT_EQ(set.identity.clocks.clocks.size(), 4U);
  EXPECT_EQ(set.identity.clocks.clocks[0].name, "app (its clock at 2024-10-09)");
  EXPECT_THAT(set.identity.notes, ElementsAre(HasSubstr("the clock of app was set by about")));
  EXPECT_THAT(set.identity.set_aside, IsEmpty());
  const Clock stray = [](int call, std::uint64_t time) { return call == 7 ? 12'345 : time; };
  const Found few = edges_of(read_all(calls(60, "app", stray)).spans);
  EXPECT_THAT(kinds_of(few.identity), ElementsAre("no_times_of_this_run of app"));
  EXPECT_FALSE(few.identity.set_aside.at(0).is_decisive);
  EXPECT_EQ(few.found.size(), 238U);
}

TEST(Identity, spans_without_a_time_count_as_evidence_that_is_missing) {
  const Clock zero = [](int call, std::uint64_t time) { return call % 3 == 0 ? 0 : time; };
  const Found found = edges_of(read_all(calls(60, "app", zero)).spans);
  EXPECT_THAT(kinds_of(found.identity), ElementsAre("no_time of app"));
  EXPECT_TRUE(found.identity.set_aside.at(0).is_decisive);
}

TEST(Identity, times_that_a_viewer_has_moved_are_no_evidence) {
  const Found jaeger = edges_of(read_all(
                                    R"({"data":[{"traceID":"a","spans":[
{"traceID":"a","spanID":"1","operationName":"x","startTime":1000,"duration":500,"processID":"p1",
"tags":[{"key":"span.kind","type":"string","value":"client"}]},
{"traceID":"a","spanID":"2","operationName":"y","startTime":1100,"duration":300,"processID":"p2",
"references":[{"refType":"CHILD_OF","traceID":"a","spanID":"1"}],
"tags":[{"key":"span.kind","value":"server"}],
"warnings":["This span's timestamps were adjusted by 20.025ms"]}],
"processes":{"p1":{"serviceName":"s"},"p2":{"serviceName":"t"}}}]})")
                                    .spans);
  EXPECT_THAT(kinds_of(jaeger.identity), ElementsAre("changed_times of t"));
  EXPECT_THAT(jaeger.found, IsEmpty());
}

TEST(Steps, of_begins_count_for_ends_that_follow_from_them) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    const std::uint64_t begin = k_us * 1000 + static_cast<std::uint64_t>(i * i) * 12'345'677 +
                                static_cast<std::uint64_t>(i * i * i) * 30;
    const std::uint64_t served = begin + 200'000, shown = served / 1'000'000 * 1'000'000;
    const auto span = [&](const char* host, int id, std::uint64_t from, std::uint64_t to) {
      return half_of_call(attribute("host.name", host), i, id, from, to);
    };
    text += span("js", 1, begin, begin + 2'000'000);
    text += span("java", 2, shown, shown + 1'600'000);
  }
  const Found found = edges_of(read_all(text).spans);
  EXPECT_EQ(found.steps.of_begins, (std::vector<std::uint64_t>{1, 1'000'000}));
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("clock java counts in steps of 1 ms")));
  for (const Edge& edge : found.found) EXPECT_LE(edge.cause_time, edge.effect_time);
}

/// Bursts of calls to a clock of whole ms: their delays hardly differ, and it is coarse all the
/// same.
TEST(Steps, of_begins_and_ends_are_a_resolution_also_where_calls_come_in_bursts) {
  std::string text;
  for (int i = 0; i < 120; ++i) {
    const std::uint64_t begin =
        k_us * 1000 + static_cast<std::uint64_t>(i / 30) * 1'234'567'891 + 700'000 + i % 30 * 11ULL;
    const auto cut = [](std::uint64_t time) { return time / 1'000'000 * 1'000'000; };
    const auto span = [&](const char* host, int id, std::uint64_t from, std::uint64_t to) {
      return half_of_call(attribute("host.name", host), i, id, from, to);
    };
    text += span("fine", 1, begin, begin + 9'000'000);
    text += span("coarse", 2, cut(begin + 100'000),
                 cut(begin + 3'000'000 + static_cast<std::uint64_t>(i) * 37'000));
  }
  const Found found = edges_of(read_all(text).spans);
  EXPECT_EQ(found.steps.of_begins[1], 1'000'000U);
  for (const Edge& edge : found.found) EXPECT_LE(edge.cause_time, edge.effect_time);
}

/// Calls that a timer starts are 90 ms apart or a multiple of that. Its clock is 90 ms behind.
TEST(Steps, of_a_timer_that_starts_calls_are_no_resolution) {
  std::string text;
  std::uint64_t time = k_us * 1000;
  for (int i = 0; i < 60; ++i) {
    time += 90'000'000 * static_cast<std::uint64_t>(1 + i * i % 5 + i * i * i % 7);
    const std::uint64_t way = 150'000 + static_cast<std::uint64_t>(i * 7919 % 1000) * 401;
    const auto span = [&](const char* host, int id, std::uint64_t from, std::uint64_t to) {
      return half_of_call(attribute("host.name", host), i, id, from, to);
    };
    text += span("hub", 1, time - 90'000'123, time - 90'000'123 + 3 * way);
    text += span("dev", 2, time + way, time + 2 * way);
  }
  const Found found = edges_of(read_all(text).spans);
  EXPECT_LE(found.steps.of_begins[0], 1000U);
  EXPECT_THAT(found.notes, IsEmpty());
}

std::string linked(const char* linker, const char* linked, bool has_call) {
  const auto span = [](const char* host, const char* trace, const char* id, const char* kind,
                       int begin, const std::string& more = "") {
    return fmt::format(
        R"({{"resourceSpans":[{{"resource":{{"attributes":[{{"key":"host.name","value":)"
        R"({{"stringValue":"{}"}}}}]}},"scopeSpans":[{{"spans":[{{"traceId":"{}","spanId":"{}",)"
        R"("kind":"{}",{}"startTimeUnixNano":{},"endTimeUnixNano":{}}}]}}]}}]}})"
        "\n",
        host, trace, id, kind, more, begin, begin + 100);
  };
  std::string text =
      span("a", "1", "1", linker, 1000, R"("links":[{"traceId":"2","spanId":"2"}],)");
  text += span("b", "2", "2", linked, 2000);
  if (!has_call) return text;
  return text + span("a", "3", "3", "client", 5000) +
         span("b", "3", "4", "server", 5010, R"("parentSpanId":"3",)");
}

TEST(Links, are_an_order_only_where_the_linking_span_consumes) {
  const auto count = [](const char* from, const char* to, bool has_call) {
    return edges_of(read_all(linked(from, to, has_call)).spans).found.size();
  };
  EXPECT_EQ(count("consumer", "producer", false), 1U);
  EXPECT_EQ(count("consumer", "consumer", false), 0U);
  EXPECT_EQ(count("server", "client", false), 1U);
  EXPECT_EQ(count("server", "internal", false), 0U);
  EXPECT_EQ(count("producer", "consumer", false), 0U);
  EXPECT_EQ(count("consumer", "producer", true), 2U) << "the call alone";
}

}  // namespace
}  // namespace entrain::spans
