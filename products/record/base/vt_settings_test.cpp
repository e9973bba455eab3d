// SPDX-License-Identifier: BSD-3-Clause
#include "record/base/vt_settings.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <vector>

#include "record/base/scratch_testing.hpp"
#include "record/base/settings.hpp"

namespace entrain::record {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class VtSettings : public testing::Test {
 protected:
  Settings settings_of(const std::vector<std::string>& variables) {
    std::string all;
    for (const std::string& variable : variables) all += variable + '\0';
    return read_settings(with_vt_settings(all, problem_), problem_);
  }
  Settings settings_of_file(const std::string& text, std::vector<std::string> variables = {}) {
    put_file(scratch_ / "itc.conf", text);
    variables.push_back("VT_CONFIG=" + (scratch_ / "itc.conf"));
    return settings_of(variables);
  }

  ScratchFolder scratch_;
  std::string problem_;
};

TEST_F(VtSettings, directives_are_those_of_the_recorder) {
  const Settings settings = settings_of_file(
      "# SYNC-MAX-MESSAGES 1\n"
      "LOGFILE-NAME \"my trace.stf\"\n"
      "sync-max-messages 17\r\n"
      "  SYNC-MAX-DURATION\t\"1m+30s\"\n"
      "SYNC-PERIOD 500l\n"
      "SYNCED-HOST off\n"
      "SYNCED-CLUSTER auto\n");
  EXPECT_THAT(problem_, IsEmpty());
  EXPECT_EQ(settings.sync.max_messages, 17u);
  EXPECT_EQ(settings.sync.max_duration_s, 90);
  EXPECT_EQ(settings.sync.period_s, 0.5);
  EXPECT_EQ(settings.sync.synced_host, Choice::no);
  EXPECT_EQ(settings.sync.synced_cluster, Choice::automatic);
}

TEST_F(VtSettings, a_name_alone_is_on_and_the_last_line_counts) {
  const Settings settings = settings_of_file("SYNCED-CLUSTER\nSYNCED-HOST OFF\nSYNCED-HOST true");
  EXPECT_THAT(problem_, IsEmpty());
  EXPECT_EQ(settings.sync.synced_cluster, Choice::yes);
  EXPECT_EQ(settings.sync.synced_host, Choice::yes);
}

TEST_F(VtSettings, own_variables_come_before_the_environment_and_that_before_the_file) {
  const Settings settings =
      settings_of_file("SYNC-MAX-MESSAGES 1\nSYNC-MAX-DURATION 1\nSYNC-PERIOD 1\n",
                       {"ENTRAIN_SYNC_MAX_MESSAGES=3", "VT_SYNC_MAX_MESSAGES=2",
                        "VT_SYNC_MAX_DURATION=2", "ENTRAIN_SYNC_PERIOD="});
  EXPECT_THAT(problem_, IsEmpty());
  EXPECT_EQ(settings.sync.max_messages, 3u);
  EXPECT_EQ(settings.sync.max_duration_s, 2);
  EXPECT_EQ(settings.sync.period_s, 1);
}

TEST_F(VtSettings, what_is_no_regular_file_is_told_and_not_waited_for) {
  const std::string pipe = scratch_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, std::string("/dev/zero"), scratch_ / ""}) {
    problem_.clear();
    settings_of({"VT_CONFIG=" + path});
    EXPECT_THAT(problem_, HasSubstr("cannot read the file " + path +
                                    " of VT_CONFIG: "
                                    "it is no regular file"));
  }
}

TEST_F(VtSettings, a_file_that_is_too_large_is_told_and_not_read) {
  put_file(scratch_ / "large", "SYNC-PERIOD 1\n");
  std::filesystem::resize_file(scratch_ / "large", std::uintmax_t{1} << 40);
  const Settings settings = settings_of({"VT_CONFIG=" + (scratch_ / "large")});
  EXPECT_THAT(problem_, HasSubstr("it has 1099511627776 bytes, more than the 1048576 of a file"));
  EXPECT_EQ(settings.sync.period_s, 0);
}

TEST_F(VtSettings, bad_lines_are_told_with_their_place) {
  const Settings settings = settings_of_file(
      "SYNC-MAX-MESSAGES many\nSYNC-MAX-DURATION 3x\nSYNC-MAX-MESAGES 5\nSYNCED-HOST perhaps\n",
      {"VT_SYNC_PERIOD=1s+"});
  const std::string file = scratch_ / "itc.conf";
  EXPECT_THAT(problem_, HasSubstr("SYNC-MAX-MESSAGES in line 1 of " + file +
                                  " is 'many', but must be a whole number"));
  EXPECT_THAT(problem_, HasSubstr("SYNC-MAX-DURATION in line 2 of " + file + " is '3x', but must"));
  EXPECT_THAT(problem_, HasSubstr("SYNC-MAX-MESAGES in line 3 of " + file + " is no directive"));
  EXPECT_THAT(problem_, HasSubstr("SYNCED-HOST in line 4 of " + file + " is 'perhaps'"));
  EXPECT_THAT(problem_, HasSubstr("VT_SYNC_PERIOD is '1s+', but must"));
  EXPECT_THAT(problem_, Not(HasSubstr("ENTRAIN_")));
  EXPECT_EQ(settings.sync.max_messages, 100u);
}

TEST_F(VtSettings, a_file_that_is_not_there_is_told) {
  settings_of({"VT_CONFIG=" + (scratch_ / "none.conf")});
  EXPECT_THAT(problem_, HasSubstr("cannot read the file " + (scratch_ / "none.conf") +
                                  " of VT_CONFIG: No such file"));
}

TEST_F(VtSettings, a_null_begins_no_variable) {
  const std::string text("SYNC-PERIOD 1\0ENTRAIN_SYNC_MAX_MESSAGES=7\n", 42);
  EXPECT_EQ(settings_of_file(text).sync.max_messages, 100u);
}

TEST_F(VtSettings, less_than_no_time_is_none) {
  EXPECT_EQ(settings_of({"VT_SYNC_PERIOD=-1"}).sync.period_s, 0);
  EXPECT_THAT(problem_, IsEmpty());
}

TEST_F(VtSettings, its_variables_are_few) {
  EXPECT_TRUE(is_vt_variable("VT_CONFIG=a"));
  EXPECT_TRUE(is_vt_variable("VT_SYNCED_CLUSTER"));
  EXPECT_FALSE(is_vt_variable("VT_LOGFILE_NAME=a"));
}

}  // namespace
}  // namespace entrain::record
