// SPDX-License-Identifier: BSD-3-Clause
#include "formats/ctf/ctf.hpp"

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
using testing::Contains;
using testing::HasSubstr;

TestTrace of_host(const std::string& name, const std::string& clock = "freq = 1000000000;") {
  return {.env = "hostname = \"" + name + "\";",
          .clock = "name = \"c\"; " + clock,
          .classes =
              "event { name = \"app:send\"; id = 0; stream_id = 0;\n"
              "  fields := struct { uint32_t id; }; };\n"
              "event { name = \"app:recv\"; id = 1; stream_id = 0;\n"
              "  fields := struct { uint32_t id; }; };\n"};
}

TestEvent end_of_message(bool is_send, std::uint32_t message, std::uint64_t count) {
  return {count, is_send ? 0U : 1U, 0, Bytes().add(message).str()};
}

/// Three messages from the host alpha to the host beta.
struct CtfRun : testing::Test {
  void SetUp() override {
    write_hosts();
    const auto run = open();
    if (!run && run.error().message.find("built without") != std::string::npos) {
      GTEST_SKIP() << "built without libbabeltrace2";
    }
    ASSERT_TRUE(run) << run.error().message;
  }
  void write_hosts(std::uint32_t first = 1) const {
    std::vector<TestEvent> sends, receives;
    for (std::uint32_t i = 0; i < 3; ++i) {
      sends.push_back(end_of_message(true, first + i, 1000 + 100 * i));
      receives.push_back(end_of_message(false, first + i, 1040 + 100 * i));
    }
    write_trace(root / "run" / "alpha", of_host("alpha"), sends);
    write_trace(root / "run" / "beta", of_host("beta"), receives);
  }
  [[nodiscard]] static Result<std::unique_ptr<formats::Recording>> open_at(
      const std::vector<fs::path>& folders) {
    return read(folders, k_match);
  }
  [[nodiscard]] Result<std::unique_ptr<formats::Recording>> open() const {
    return open_at({root / "run"});
  }
  [[nodiscard]] std::string refusal(const std::vector<fs::path>& folders) const {
    const auto run = open_at(folders);
    return run ? "none" : run.error().message;
  }
  TempFolder root;
  static inline const std::vector<std::string> k_match{"send=app:send:id,receive=app:recv:id"};
};

Result<void> see_nothing(const formats::Work&) { return {}; }

TEST_F(CtfRun, has_a_clock_of_each_host_and_an_edge_of_each_message) {
  const auto run = *open();
  ASSERT_EQ(run->clocks.clocks.size(), 2u);
  EXPECT_EQ(run->clocks.clocks[0].name, "alpha");
  EXPECT_EQ(run->clocks.clocks[1].name, "beta");
  EXPECT_EQ(run->list.cause_clock.size(), 3u);
  EXPECT_EQ(run->events, 6u);
  EXPECT_TRUE(run->warnings.empty());
  std::vector<std::string> seen;
  ASSERT_TRUE(run->for_each_work([&](const formats::Work& work) -> Result<void> {
    seen.push_back(std::string(work.name) + " at " + std::to_string(work.begin) + " in " +
                   std::string(work.row));
    return {};
  }));
  EXPECT_THAT(seen, Contains("app:recv at 1140 in beta/stream"));
}

TEST_F(CtfRun, is_copied_with_other_offsets) {
  const auto run = *open();
  const std::vector<ClockMap> maps{ClockMap(), ClockMap().shifted(500)};
  fs::create_directory(root / "out");
  ASSERT_TRUE(run->write(root / "out", maps));
  const auto copy = run->read_back(root / "out", maps);
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ((*copy)->event_times()->of_clock[1][0].time(), 1540);
  EXPECT_EQ((*copy)->event_times()->of_clock[0][0].time(), 1000);
  EXPECT_EQ(*(*copy)->event_hashes(0), *run->event_hashes(0));
  // What the copies of streams may be is said by their number.
  fs::create_directory(root / "links");
  const auto links = run->write_overlay(root / "links", root / "links", maps, LinkKind::symbolic);
  ASSERT_TRUE(links) << links.error().message;
  EXPECT_EQ(links->at(static_cast<std::size_t>(LinkKind::symbolic)), 2u);
  EXPECT_TRUE(fs::is_symlink(root / "links" / "beta" / "stream"));
  EXPECT_FALSE(fs::is_symlink(root / "links" / "beta" / "metadata"));
  EXPECT_TRUE(run->read_back(root / "links", maps));
}

TEST_F(CtfRun, of_several_folders_is_copied_into_folders_of_their_names) {
  const auto run = *open_at({root / "run" / "alpha", root / "run" / "beta" / ""});
  fs::create_directory(root / "out");
  ASSERT_TRUE(run->write(root / "out", std::vector<ClockMap>(2)));
  EXPECT_TRUE(fs::exists(root / "out" / "beta" / "stream"));
  EXPECT_THAT(run->clocks.name, HasSubstr("alpha and 1 more"));
  EXPECT_EQ(run->event_hashes(1)->size(), 3u);
}

TEST_F(CtfRun, that_changed_since_it_was_read_is_refused) {
  const auto changed = [&](const auto& change) {
    write_hosts();
    const auto run = *open();
    change();
    fs::remove_all(root / "out");
    fs::create_directory(root / "out");
    const std::vector<ClockMap> maps(2);
    for (const Result<void>& result :
         {run->write(root / "out", maps),
          run->write_overlay(root / "out", root / "out", maps, LinkKind::symbolic)
              .map([](const LinkCounts&) {}),
          run->for_each_work(see_nothing),
          run->event_times().map([](const formats::EventTimes&) {}),
          run->event_hashes(0).map([](const std::vector<std::uint64_t>&) {})}) {
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().kind, ErrorKind::input);
      EXPECT_THAT(result.error().message, HasSubstr("changed"));
    }
    EXPECT_TRUE(fs::is_empty(root / "out"));
  };
  changed([&] { write_text(root / "run" / "beta" / "stream", packet_of({{1, 0, 0, "1234"}})); });
  changed([&] { write_text(root / "run" / "beta" / "another", packet_of({{1, 0, 0, "1234"}})); });
  changed([&] { fs::remove(root / "run" / "alpha" / "stream"); });
  const auto run = *open();
  fs::remove_all(root / "run");
  EXPECT_FALSE(run->event_times());
}

TEST_F(CtfRun, a_copy_with_other_messages_is_not_kept) {
  const auto run = *open();
  const auto original = root / "original";
  fs::rename(root / "run", original);
  write_hosts(2);
  EXPECT_TRUE(run->read_back(root / "run", {}));  // the numbers of messages may be others
  write_trace(root / "run" / "beta", of_host("beta"), {end_of_message(false, 9, 5)});
  const auto refused = run->read_back(root / "run", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::output);
  EXPECT_THAT(refused.error().message, HasSubstr("do not hold the messages of the original"));
}

TEST_F(CtfRun, is_not_written_where_nothing_can_be) {
  const auto run = *open();
  write_text(root / "file", "mine");
  const std::vector<ClockMap> maps(2);
  const auto refused = run->write(root / "file", maps);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::output);
  EXPECT_THAT(refused.error().message, HasSubstr("cannot create"));
  fs::create_directory(root / "out");
  write_text(root / "out" / "alpha" / "stream", "mine");
  EXPECT_FALSE(run->write(root / "out", maps));
}

TEST_F(CtfRun, folders_that_cannot_be_one_run_are_refused) {
  EXPECT_THAT(refusal({root / "none"}), HasSubstr("cannot read " + (root / "none").string()));
  EXPECT_THAT(refusal({root / "run", root / "run" / "beta"}), HasSubstr("would count twice"));
  EXPECT_THAT(refusal({root / "run", root / "run"}), HasSubstr("would count twice"));
  fs::create_directory(root / "empty");
  EXPECT_THAT(refusal({root / "empty"}), HasSubstr("holds no event with a time"));
  const std::vector<fs::path> folders{root / "run"};
  const std::vector<std::string> match{"send=a"};
  const auto rule = read(folders, match);
  ASSERT_FALSE(rule);
  EXPECT_EQ(rule.error().kind, ErrorKind::usage);
}

TEST_F(CtfRun, what_does_not_count_is_told) {
  TestTrace none = of_host("gamma");
  none.clock = "";
  write_trace(root / "run" / "gamma", none, {end_of_message(true, 70, 5)});
  write_trace(root / "run" / "delta", of_host("delta", "freq = 1000000000; offset_s = -1;"),
              {end_of_message(true, 71, 5), end_of_message(true, 72, 6)});
  write_text(root / "run" / "alpha" / "lossy", packet_of({end_of_message(true, 73, 1)}) +
                                                   packet_of({end_of_message(true, 74, 2)}, 4));
  const auto run = *open();
  EXPECT_THAT(run->warnings, Contains(HasSubstr("1 event of streams without a clock")));
  EXPECT_THAT(run->warnings, Contains(HasSubstr("2 events before the origin")));
  EXPECT_THAT(run->warnings, Contains(HasSubstr("4 events lost by the tracer")));
  EXPECT_EQ(run->list.cause_clock.size(), 3u);
}

TEST_F(CtfRun, without_messages_between_hosts_says_what_to_do) {
  const auto one = *open_at({root / "run" / "alpha"});
  EXPECT_THAT(one->warnings, Contains(HasSubstr("(1 clock): record net_dev_queue")));
  write_trace(root / "run" / "beta", of_host("beta"), {end_of_message(false, 9, 5)});
  const auto two = *open();
  EXPECT_THAT(two->warnings, Contains(HasSubstr("(2 clocks): record net_dev_queue")));
}

TEST_F(CtfRun, clocks_without_a_host_have_names_of_their_own) {
  for (const char* name : {"one", "two"}) {
    TestTrace trace = of_host("");
    trace.env = "domain = \"ust\";";
    write_trace(root / "apart" / name, trace, {end_of_message(true, 1, 5)});
  }
  const auto run = *open_at({root / "apart"});
  ASSERT_EQ(run->clocks.clocks.size(), 2u);
  EXPECT_EQ(run->clocks.clocks[0].name, "one");
  EXPECT_EQ(run->clocks.clocks[1].name, "two");
  // The trace is the folder itself: the clock names it.
  const auto single = *open_at({root / "apart" / "one"});
  EXPECT_EQ(single->clocks.clocks.at(0).name, "c");
}

TEST_F(CtfRun, clocks_of_one_host_and_other_uuids_are_several) {
  const auto with_uuid = [&](const char* folder, const char* digit) {
    const std::string uuid = std::string("0000000") + digit + "-0000-0000-0000-000000000000";
    write_trace(root / "many" / folder, of_host("alpha", "freq = 1000; uuid = \"" + uuid + "\";"),
                {end_of_message(true, 1, 5)});
  };
  with_uuid("a", "1");
  with_uuid("b", "2");
  with_uuid("c", "1");
  with_uuid("d", "3");
  const auto run = *open_at({root / "many"});
  ASSERT_EQ(run->clocks.clocks.size(), 3u);
  EXPECT_EQ(run->clocks.clocks[0].name, "alpha");
  EXPECT_EQ(run->clocks.clocks[1].name, "alpha #2");
  EXPECT_EQ(run->clocks.clocks[2].name, "alpha #3");
  EXPECT_EQ(run->clocks.clocks[0].granule, 1'000'000u);
}

TEST_F(CtfRun, is_found_in_folders_and_around_files) {
  EXPECT_TRUE(holds_traces(root / "run"));
  EXPECT_FALSE(holds_traces(root / "none"));
  fs::create_directory(root / "empty");
  write_text(root / "empty" / "metadata", "something else");
  EXPECT_FALSE(holds_traces(root / "empty"));
  fs::create_directories(root / "deep/1/2/3/4/5/6");
  fs::copy(root / "run" / "alpha", root / "deep/1/2/3/4/5/6/7");
  EXPECT_FALSE(holds_traces(root / "deep"));
  EXPECT_TRUE(holds_traces(root / "deep" / "1"));
  EXPECT_EQ(trace_around(root / "run" / "alpha" / "stream"), root / "run" / "alpha");
  EXPECT_EQ(trace_around(root / "run" / "stream"), "");
  EXPECT_EQ(trace_around("stream"), "");
}

}  // namespace
}  // namespace entrain::ctf
