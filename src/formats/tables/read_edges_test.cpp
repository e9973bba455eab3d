// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/read_edges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/temp_folder_testing.hpp"
#include "formats/tables/read_clocks.hpp"

namespace entrain::tables {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ReadEdges : public testing::Test {
 protected:
  std::filesystem::path put(const std::string& text) {
    std::ofstream(folder_ / "table", std::ios::binary) << text;
    return folder_ / "table";
  }
  EdgeTable read(const std::string& text) {
    return read_edges(put(text), clocks_, 2, nullptr).value();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Clock& clock : clocks_.clocks) all.push_back(clock.name);
    return all;
  }

  TempFolder folder_;
  Clocks clocks_;
};

TEST_F(ReadEdges, numbers_clocks_before_words_and_by_value) {
  const EdgeTable table = read(
      "cause_clock,cause_time,effect_clock,effect_time,min_delay,kind\n"
      "b,1,10,2,,\n9,3,a long name,4,7,rpc\n");
  EXPECT_THAT(names(), ElementsAre("9", "10", "a long name", "b"));
  EXPECT_THAT(table.list.cause_clock, ElementsAre(3, 0));
  EXPECT_THAT(table.list.effect_clock, ElementsAre(1, 2));
  EXPECT_THAT(table.list.min_delay, ElementsAre(0, 7));
  EXPECT_THAT(table.notes, ElementsAre(HasSubstr("1 rows have kinds of their own")));
}

/// The same instance in the ways in which a table can write it.
TEST_F(ReadEdges, takes_members_of_instances_in_every_form) {
  for (const char* text :
       {"cause_clock,cause_time,effect_clock,effect_time,kind,instance,role\n"
        "a,1,,,n_to_n,x,begin\nb,2,,,,x,begin\n,,a,5,,x,end\n,,b,6,,x,end\n",
        "cause_clock,cause_time,effect_clock,effect_time,kind,instance,role\n"
        ",,b,6,,x,end\n,,a,1,n_to_n,x,begin\nb,2,,,,x,begin\na,5,,,,x,end\n",
        "cause_clock,cause_time,effect_clock,effect_time,instance\na,1,a,5,x\nb,2,b,6,x\n",
        "clock,begin,end,instance,kind,sync\na,1,5,x,,true\nb,2,6,x,,\n",
        "{\"clock\":\"a\",\"begin\":1,\"end\":5,\"instance\":\"x\"}\n"
        "{\"instance\":\"x\",\"clock\":\"b\",\"begin\":\"2\",\"role\":\"begin\"}\n"
        "{\"instance\":\"x\",\"role\":\"end\",\"effect_clock\":\"b\",\"effect_time\":6}\n"}) {
    SCOPED_TRACE(text);
    clocks_ = {};
    const EdgeTable table = read(text);
    ASSERT_EQ(table.list.instances.size(), 1u);
    EXPECT_EQ(table.list.instances[0].begins, 2u);
    EXPECT_EQ(table.list.instances[0].ends, 2u);
    std::uint64_t begins = 0, ends = 0;
    for (std::size_t m = 0; m < 4; ++m) {
      const InstanceMember& member = table.list.members[m];
      (m < 2 ? begins : ends) += member.time * (member.clock + 1);
    }
    EXPECT_EQ(begins, 1u + 2 * 2);
    EXPECT_EQ(ends, 5u + 2 * 6);
  }
}

TEST_F(ReadEdges, orders_scans_by_rank) {
  const EdgeTable table =
      read("clock,begin,end,instance,kind,rank\na,1,9,s,scan,2\nb,2,8,s,scan,0\nc,3,7,s,scan,1\n");
  EXPECT_EQ(table.list.members[0].time, 2u);
  EXPECT_EQ(table.list.members[2].time, 1u);
  EXPECT_EQ(table.list.members[5].time, 9u);
}

TEST_F(ReadEdges, takes_tables_of_other_programs) {
  EdgeTable table = read("src;send_us;dst;recv_ms;bytes\na;1;b;2;7\n");
  EXPECT_THAT(names(), ElementsAre("a", "b"));
  EXPECT_EQ(table.list.cause_time[0], 1'000u);
  EXPECT_EQ(table.list.effect_time[0], 2'000'000u);
  EXPECT_THAT(table.notes, ElementsAre("columns: cause_clock is src, cause_time is send_us, "
                                       "effect_clock is dst, effect_time is recv_ms; --columns "
                                       "names others"));
  clocks_ = {};
  table = read(
      "{\"note\": \"5\\\" disk\", \"src\": \"a\", \"send_us\": 1, \"dst\": \"b\", \"recv_ms\": "
      "2}\n");
  EXPECT_EQ(table.list.cause_time[0], 1'000u);
  EXPECT_EQ(table.list.effect_time[0], 2'000'000u);
  clocks_ = {};
  const Layout layout =
      layout_of("s", "cause_clock=1,cause_time=2,effect_clock=3,effect_time=4").value();
  table = read_edges(put("a\t1\tb\t1.5\n"), clocks_, 2, nullptr, layout).value();
  EXPECT_EQ(table.list.cause_time[0], 1'000'000'000u);
  EXPECT_EQ(table.list.effect_time[0], 1'500'000'000u);
  const Layout units = layout_of("s", "cause_time=sent[ms],effect_time=got").value();
  clocks_ = {};
  table = read_edges(put("src,sent,dst,got\na,1,b,2\n"), clocks_, 2, nullptr, units).value();
  EXPECT_EQ(table.list.cause_time[0], 1'000'000u);
  EXPECT_EQ(table.list.effect_time[0], 2'000'000'000u);
  EXPECT_THAT(layout_of("", "kind=a,kind=b").error().message, HasSubstr("names kind twice"));
  EXPECT_THAT(layout_of("", "kind=a,role=a").error().message, HasSubstr("names a twice"));
  EXPECT_THAT(layout_of("", "cause=1").error().message, HasSubstr("\"cause=1\" names no column"));
  EXPECT_FALSE(layout_of("", "cause_clock="));
  EXPECT_FALSE(layout_of("min", ""));
}

TEST_F(ReadEdges, reads_what_is_known_of_clocks) {
  const std::vector<tables::Source> files{
      put("clock,kind,domain,machine,resolution_hz,first,last,time,offset,half_width,round_trip,"
          "kept,flush_begin,flush_end\n"
          "a,wall,d,m,1000,1,90,,,,,,,\nb,,,,,,,50,-7,2.5,,,,\nb,,,,,,,49,-6,,5,false,,\n"
          "b,,,,,,,10,-3,0,,,,\na,,,,,,,,,,,,4,6\n")};
  const Clocks clocks = read_clocks(files, 0).value();
  ASSERT_EQ(clocks.clocks.size(), 2u);
  EXPECT_EQ(clocks.resolution_hz, 1000u);
  const Clock &a = clocks.clocks[0], &b = clocks.clocks[1];
  EXPECT_EQ(a.kind, ClockKind::wall);
  EXPECT_EQ(a.domain + a.machine, "dm");
  EXPECT_EQ(a.events->last, 90u);
  EXPECT_EQ(a.flushes[0].last, 6u);
  ASSERT_EQ(b.sessions.size(), 2u);
  EXPECT_EQ(b.sessions[0].time, 10u);
  EXPECT_EQ(b.sessions[1].half_width, 2.5);
  EXPECT_EQ(b.sessions[1].exchanges[0].round_trip, 5u);
  EXPECT_FALSE(b.sessions[1].exchanges[0].kept);
}

/// The highest resolution is that of the run; whole times of other clocks are turned into it.
TEST_F(ReadEdges, refuses_dates_whose_zone_nothing_tells) {
  const std::string begin = "src,send_time,dst,recv_time\na,2026-11-30T05:00:00Z,b,";
  EXPECT_EQ(read(begin + "2026-11-30T06:00:01+01:00\n").list.effect_time[0],
            read(begin + "30/Nov/2026:05:00:01 +0000\n").list.effect_time[0]);
  clocks_ = {};
  const auto refused = read_edges(put(begin + "2026-11-30T05:00:01\n"), clocks_, 2, nullptr);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("line 2: dates with a time zone and without one"));
}

TEST_F(ReadEdges, clocks_may_count_in_units_of_their_own) {
  const std::vector<tables::Source> files{
      put("clock,resolution_hz,first,last\nhost,1000,0,3000\ndev,1500,30,4500\n")};
  Layout layout;
  clocks_ = read_clocks(files, 0, Unit::unnamed, &layout.clock_hz).value();
  EXPECT_EQ(clocks_.resolution_hz, 1500U);
  EXPECT_EQ(clocks_.clocks[0].events->last, 4500U);
  EXPECT_EQ(clocks_.clocks[1].events->last, 4500U);
  const EdgeTable table =
      read_edges(put("cause_clock,cause_time,effect_clock,effect_time\nhost,10,dev,20\n"), clocks_,
                 1, nullptr, layout)
          .value();
  EXPECT_EQ(table.list.cause_time[0], 15U);
  EXPECT_EQ(table.list.effect_time[0], 20U);
  EXPECT_EQ(table.wraps[0].stored(15), 10U);
  const std::vector<tables::Source> sessions{
      put("clock,resolution_hz,time,offset\nhost,1000,,\nhost,,5,1\ndev,1500,,\n")};
  EXPECT_THAT(read_clocks(sessions, 0, Unit::unnamed, &layout.clock_hz).error().message,
              HasSubstr("clock host counts 1000 ticks per second, others 1500"));
  EXPECT_FALSE(read_clocks(files, 0));
}

}  // namespace
}  // namespace entrain::tables
