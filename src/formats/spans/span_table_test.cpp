// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/source_text.hpp"

#include <string>

#include <gtest/gtest.h>

#include "formats/spans/spans_testing.hpp"

namespace entrain::spans {
namespace {

std::string moved_by(const std::string& text, std::int64_t offset) {
  const Read read = read_all(text);
  const std::vector<ClockMap> maps(read.spans.clocks.all().size(), ClockMap().shifted(offset));
  return patched(text, read.stamps, maps).value_or("refused");
}

std::string table_error(std::string text, std::string_view columns = {}) {
  Spans spans;
  std::vector<Stamp> stamps;
  TextSoFar whole{.columns = columns};
  const auto done = read(text, "t.csv", spans, &stamps, nullptr, &whole);
  return done ? "" : done.error().message;
}

TEST(SpanTable, columns_and_units_are_guessed_and_named) {
  const Read read = read_all(
      "TraceID,SpanID,ParentID,PodName,OperationName,StartTimeUnixNano,EndTimeUnixNano,Duration\n"
      "0a,01,root,a-1,get,1661140374351773094,1661140374362982609,11209\n"
      "0a,02,01,b-1,get,1661140374353765692,1661140374356763596,2997\n");
  ASSERT_EQ(read.spans.all.size(), 2U);
  EXPECT_EQ(read.spans.all[0].parent, k_none);
  EXPECT_EQ(read.spans.all[1].parent, read.spans.all[0].id);
  EXPECT_EQ(read.spans.all[1].end, 1661140374356763596U);
  EXPECT_EQ(read.spans.groups.all(), (std::vector<std::string>{"a-1", "b-1"}));
  EXPECT_EQ(read.spans.guesses,
            std::vector<std::string>{
                "columns: trace is TraceID, span is SpanID, parent is ParentID, start is "
                "StartTimeUnixNano, end is EndTimeUnixNano, pod is PodName, "
                "name is OperationName; StartTimeUnixNano in ns, EndTimeUnixNano in ns, Duration "
                "in us; --columns names others"});
}

TEST(SpanTable, nothing_is_guessed_where_columns_and_units_are_named) {
  EXPECT_TRUE(read_all("trace,span,host,start_us,end_us\n1,1,a,17,19\n").spans.guesses.empty());
  EXPECT_TRUE(read_all("trace,span,host,start,end\n"
                       "1,1,a,2022-08-22 03:53:01,2022-08-22 03:53:02\n")
                  .spans.guesses.empty());
}

TEST(SpanTable, columns_and_units_may_be_given) {
  std::string text = "t,s,p,machine,t0,length[ms],kind\n1,1,,a,5,9,x\n1,2,1,b,6,7,y\n";
  const std::string given = "trace=t,span=2,parent=p,host=machine,start=t0[us],duration=length[ms]";
  Spans spans;
  std::vector<Stamp> stamps;
  TextSoFar whole{.columns = given};
  ASSERT_TRUE(read(text, "t.csv", spans, &stamps, nullptr, &whole));
  ASSERT_EQ(spans.all.size(), 2U);
  EXPECT_EQ(spans.all[1].begin, 6'000U);
  EXPECT_EQ(spans.all[1].end, 7'006'000U);
  EXPECT_EQ(spans.all[1].parent, spans.all[0].id);
  EXPECT_EQ(spans.groups.all(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(spans.guesses.empty());
  EXPECT_FALSE(is_span_table(text));
  EXPECT_TRUE(is_span_table(text, given));
}

TEST(SpanTable, given_columns_that_are_none_are_refused) {
  const std::string text = "trace,span,host,start_us,end_us,other\n1,1,a,17,19,2\n";
  const auto error_of = [&](std::string_view columns) {
    const auto done = check_span_table(text, "t.csv", columns);
    return done ? "" : done.error().message;
  };
  EXPECT_EQ(error_of("host=other,start=start_us"), "");
  EXPECT_EQ(error_of("host=pod"), "t.csv, line 1, column pod: there is no such column");
  EXPECT_EQ(error_of("host=trace,trace=1"), "t.csv, line 1, column 1: is named twice");
  EXPECT_EQ(error_of("host=other,pod=other"), "--columns names other twice");
  EXPECT_EQ(error_of("host=other,host=trace"), "--columns names host twice");
  EXPECT_EQ(error_of("host=other[ns]"), "t.csv, line 1, column other[ns]: there is no such column");
  EXPECT_EQ(error_of("node=other").substr(0, 30), "\"node=other\" names no column; ");
  EXPECT_EQ(error_of("host=end_us"),
            "t.csv, line 1, column end: the column is missing; --columns names it");
  EXPECT_EQ(table_error(text, "start=start_us[ms],end=end_us[s]"), "");
}

/// Lengths beside ends stay as they are if they do not have the unit that is given.
TEST(SpanTable, a_given_unit_of_copies_counts_if_it_is_true) {
  const std::string head = "trace,span,host,start_ns,end_ns,duration\n";
  const std::string row = "1,1,a,1661140374351773094,1661140374362982609,11209\n";
  const auto moved_with = [&](std::string_view columns) {
    std::string text = head + row;
    Spans spans;
    std::vector<Stamp> stamps;
    TextSoFar whole{.columns = columns};
    if (!read(text, "t.csv", spans, &stamps, nullptr, &whole)) return std::size_t{0};
    return stamps.size();
  };
  EXPECT_EQ(moved_with("duration=duration[us]"), 3U);
  EXPECT_EQ(moved_with("duration=duration[ms]"), 2U);
}

TEST(SpanTable, roles_follow_from_calls_where_no_column_names_them) {
  Read read = read_all(
      "trace,span,parent,pod,start_us,end_us,kind\n1,3,2,b,12,18,\n1,1,,a,5,30,\n"
      "1,2,1,a,10,20,\n1,4,3,c,13,15,\n");
  conclude_calls(read.spans);
  const auto role_of_span = [&](std::size_t i) { return read.spans.all[i].role; };
  EXPECT_EQ(role_of_span(0), Role::server);
  EXPECT_EQ(role_of_span(1), Role::internal);
  EXPECT_EQ(role_of_span(2), Role::client);
  EXPECT_EQ(role_of_span(3), Role::server);
}

TEST(SpanTable, roles_follow_from_calls_between_files) {
  const std::string head = "trace,span,parent,host,start_us,end_us\n";
  Read read;
  for (const char* row : {"1,2,1,b,6,7\n", "1,1,,a,5,9\n"}) {
    std::string text = head + row;
    ASSERT_TRUE(entrain::spans::read(text, "t.csv", read.spans, &read.stamps));
  }
  conclude_calls(read.spans);
  EXPECT_EQ(read.spans.all[0].role, Role::server);
  EXPECT_EQ(read.spans.all[1].role, Role::client);
}

TEST(SpanTable, a_length_that_is_missing_is_no_end) {
  for (const char* length : {"", "-1", "null"}) {
    Read read = read_all(
        std::string("trace,span,parent,host,start_us,duration_us\n1,1,,a,5,9\n1,2,1,b,6,") +
        length + "\n");
    EXPECT_EQ(read.spans.without_end, 1U);
    conclude_calls(read.spans);
    const Found found = edges_of(std::move(read.spans));
    ASSERT_EQ(found.found.size(), 1U) << length;
    EXPECT_FALSE(found.found[0].is_end);
  }
}

TEST(SpanTable, lengths_without_a_unit_need_a_proof) {
  const std::string head = "trace,span,parent,host,start,duration\n";
  const std::string parent = "1,1,,a,1661140374351773,500\n";
  EXPECT_EQ(table_error(head + parent + "1,2,1,a,1661140374351783,400\n"), "");
  const std::string unknown =
      "t.csv, line 1, column duration: the unit of its numbers is unknown; --columns names it, "
      "as duration=NAME[us]";
  EXPECT_EQ(table_error(head + parent), unknown);
  EXPECT_EQ(table_error(head + parent + "1,2,1,b,1661140374351783,400\n"), unknown);
  EXPECT_EQ(table_error(head + parent + "1,2,1,a,1661140374351773,400\n"), unknown);
  EXPECT_EQ(table_error(head + parent + "1,2,1,a,1661140374352783,400\n"), unknown);
}

TEST(SpanTable, a_row_without_the_end_of_its_line_is_cut) {
  for (const char* last : {"1,2,a,6,1", "1,2"}) {
    const Read read =
        read_all(std::string("trace,span,host,start_us,end_us\n1,1,a,17,19\n") + last);
    EXPECT_EQ(read.spans.all.size(), 1U);
    EXPECT_EQ(read.spans.cut_files, 1U);
  }
}

TEST(SpanTable, ids_may_count_from_zero) {
  Read read =
      read_all("trace,span,parent,host,start_us,end_us\n0,0,,a,5,9\n0,1,0,b,6,7\n1,2,0,a,5,9\n");
  conclude_calls(read.spans);
  ASSERT_EQ(read.spans.all.size(), 3U);
  EXPECT_EQ(read.spans.all[1].parent, read.spans.all[0].id);
  EXPECT_EQ(read.spans.all[2].parent, k_none);
  EXPECT_EQ(read.spans.ids.id_of(read.spans.all[0].id), "0");
}

TEST(SpanTable, all_but_the_times_stays) {
  const std::string text =
      "\xEF\xBB\xBF# exported\r\nservice;\"trace\";span;start;duration_us;kind\r\n"
      "\"a;\"\"b\";1;1;\"1661140374351773\";500;SERVER\r\n"
      "b;1;2;1661140374351,5;7;client\r\n";
  EXPECT_EQ(moved_by(text, 2'000),
            "\xEF\xBB\xBF# exported\r\nservice;\"trace\";span;start;duration_us;kind\r\n"
            "\"a;\"\"b\";1;1;\"1661140374351775\";500;SERVER\r\n"
            "b;1;2;1661140374351,5;7;client\r\n");
}

TEST(SpanTable, times_keep_their_notation) {
  EXPECT_EQ(moved_by("trace,span,host,start,end\n"
                     "1,1,a,2022-08-22 03:53:01.250000+02:00,2022-08-22 03:53:01.5+02:00\n",
                     1'000'500'000),
            "trace,span,host,start,end\n"
            "1,1,a,2022-08-22 03:53:02.250500+02:00,2022-08-22 03:53:02.5+02:00\n");
  EXPECT_EQ(moved_by("trace,span,host,start_s,duration_ms\n1,1,a,5.25,1.5\n", 1'004'000'000),
            "trace,span,host,start_s,duration_ms\n1,1,a,6.25,5.5\n");
}

TEST(SpanTable, dates_of_web_servers_are_read_and_written) {
  const auto row = [](std::string_view begin, std::string_view end) {
    return "trace,span,host,start,end\n1,1,a," + std::string(begin) + "," + std::string(end) + "\n";
  };
  EXPECT_EQ(moved_by(row("[31/Dec/2026:23:59:59 +0000]", "[31/Dec/2026:23:59:59.5 +0000]"),
                     1'000'000'000),
            row("[01/Jan/2027:00:00:00 +0000]", "[01/Jan/2027:00:00:00.5 +0000]"));
}

TEST(SpanTable, dates_that_may_mean_several_times_are_refused) {
  const std::string begin = "trace,span,host,start,end\n1,1,a,";
  EXPECT_EQ(table_error(begin + "01/02/2026 05:00:00,01/02/2026 05:00:01\n"),
            "t.csv, line 2, column start: \"01/02/2026 05:00:00\" may have the day or the month "
            "first; write the year first");
  EXPECT_EQ(table_error(begin + "2026-11-30 05:00:00Z,2026-11-30 05:00:01Z\n1,2,a,2026-11-30 "
                                "05:00:00,2026-11-30 05:00:01Z\n"),
            "t.csv, line 3, column start: dates with a time zone and without one are mixed, and "
            "nothing tells the zone of the latter");
  EXPECT_EQ(table_error(begin + "2026-11-30 05:00:00Z,2026-11-30 05:00:01\n"),
            "t.csv, line 2, column end: dates with a time zone and without one are mixed, and "
            "nothing tells the zone of the latter");
}

/// Programs that write numbers leave out zeros at the end.
TEST(SpanTable, columns_have_one_number_of_decimals) {
  EXPECT_EQ(moved_by("trace,span,host,start,duration_s\n1,1,a,1661140374.35,1.5\n"
                     "1,2,a,1661140374,0.25\n",
                     120'000'000),
            "trace,span,host,start,duration_s\n1,1,a,1661140374.47,1.5\n"
            "1,2,a,1661140374.12,0.25\n");
  EXPECT_EQ(moved_by("trace,span,host,start,end\n"
                     "1,1,a,2022-08-22 03:53:01Z,2022-08-22T03:53:01+02:00\n"
                     "1,1,a,2022-08-22 03:53:01.125Z,2022-08-22T03:53:01.1+02:00\n",
                     1'010'000'000),
            "trace,span,host,start,end\n"
            "1,1,a,2022-08-22 03:53:02.010Z,2022-08-22T03:53:02.0+02:00\n"
            "1,1,a,2022-08-22 03:53:02.135Z,2022-08-22T03:53:02.1+02:00\n");
}

TEST(SpanTable, copies_of_lengths_follow_only_if_they_are_some) {
  const std::string head = "trace,span,host,start,end,duration\n";
  const std::string row = "1,1,a,1661140374351773094,1661140374362982609,11209\n";
  EXPECT_EQ(moved_by(head + row, 1'000),
            head + "1,1,a,1661140374351774094,1661140374362983609,11209\n");
  const std::string other = "1,2,a,1661140374351773094,1661140374362982609,77\n";
  EXPECT_EQ(moved_by(head + other, 1'000),
            head + "1,2,a,1661140374351774094,1661140374362983609,77\n");
}

/// Times of one clock may have another unit, as may a few that are wrong.
TEST(SpanTable, the_unit_of_times_is_that_of_most) {
  const std::string head = "trace,span,parent,host,start,end\n";
  const std::string ns = "1,1,,a,1661140374351773094,1661140374362982609\n",
                    us = "1,2,1,b,1661140374351783,1661140374351793\n",
                    other = "1,3,2,a,1661140374351788094,1661140374351790094\n";
  EXPECT_EQ(moved_by(head + ns + us + other, 1'000),
            head +
                "1,1,,a,1661140374351774094,1661140374362983609\n"
                "1,2,1,b,1661140374352783,1661140374352793\n"
                "1,3,2,a,1661140374351789094,1661140374351791094\n");
  EXPECT_NE(table_error(head + ns + us), "");
}

TEST(SpanTable, unknown_units_are_refused) {
  EXPECT_EQ(table_error("trace,span,host,start,end\n1,1,a,17,19\n"),
            "t.csv, line 1, column start: the unit of its numbers is unknown; --columns names "
            "it, as start=NAME[us]");
  EXPECT_EQ(table_error("trace,span,host,start,duration\n1,1,a,2022-08-22 03:53:01,19\n"),
            "t.csv, line 1, column duration: the unit of its numbers is unknown; --columns "
            "names it, as duration=NAME[us]");
  EXPECT_EQ(table_error("trace,span,host,start_us,end_us\n1,1,a,17,19\n"), "");
}

TEST(SpanTable, other_tables_and_texts_are_none) {
  EXPECT_TRUE(is_span_table("trace_id\tspan_id\tstart_time\tduration\n"));
  EXPECT_FALSE(is_span_table("cause_clock,cause_time,effect_clock,effect_time\n"));
  EXPECT_FALSE(is_span_table("trace,span,start\n"));
  EXPECT_FALSE(is_span_table("trace,id,sender,receiver,send_time,recv_time,time,duration\n"));
  EXPECT_FALSE(is_span_table("{\"trace\":1,\"span\":2,\"start\":3,\"end\":4}\n"));
  EXPECT_FALSE(is_span_table(""));
  EXPECT_FALSE(is_span_table("trace,trace,span,start,end\n"));  // which one?
  std::string wide = "trace,span,start";
  for (int i = 0; i < 10'000; ++i) wide += ",x" + std::to_string(i);
  EXPECT_FALSE(is_span_table(wide + "\n"));
  EXPECT_TRUE(is_span_table(wide + ",end\n"));
}

TEST(SpanTable, damaged_rows_are_refused_and_damaged_times_counted) {
  EXPECT_EQ(table_error("trace,span,host,start_us,end_us\n1,1,a,17\n"),
            "t.csv, line 2: the row has 4 fields, the header 5");
  const Read read =
      read_all("trace,span,host,start_us,end_us\n1,1,a,17,19\n1,2,a,-5,x\n,3,a,1,2\n");
  EXPECT_EQ(read.spans.all.size(), 1U);
  EXPECT_EQ(read.spans.untimed.size(), 1U);
  EXPECT_EQ(read.spans.without_id, 1U);
  EXPECT_EQ(read.spans.immovable_times, 2U);
}

}  // namespace
}  // namespace entrain::spans
