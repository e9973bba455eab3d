// SPDX-License-Identifier: BSD-3-Clause
#include "record/base/settings.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace entrain::record {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Settings settings_of(const std::vector<std::string>& variables, std::string& problem) {
  std::string all;
  for (const std::string& variable : variables) all += variable + '\0';
  return read_settings(all, problem);
}

TEST(Settings, are_read_out_of_variables) {
  std::string problem;
  const Settings settings = settings_of(
      {"ENTRAIN_RECORD_DIR=/a/b=c", "ENTRAIN_RECORD_BUFFER=32M", "ENTRAIN_SYNC=off",
       "ENTRAIN_SYNC_FANOUT=3", "ENTRAIN_SYNC_PERIOD=2.5",
       "ENTRAIN_SYNC_DROP=", "ENTRAIN_RECORD_MAX_SIZE=3G", "ENTRAIN_RECORD_MAX_LOCATIONS=16"},
      problem);
  EXPECT_THAT(problem, IsEmpty());
  EXPECT_EQ(settings.directory, "/a/b=c");
  EXPECT_EQ(settings.buffer_bytes, 32u << 20);
  EXPECT_EQ(settings.most_bytes, std::uint64_t{3} << 30);
  EXPECT_EQ(settings.most_locations, 16u);
  EXPECT_FALSE(settings.sync.enabled);
  EXPECT_EQ(settings.sync.fanout, 3u);
  EXPECT_EQ(settings.sync.period_s, 2.5);
  EXPECT_EQ(settings.sync.dropped_share, 0.1);
}

TEST(Settings, every_bad_value_is_told_and_the_default_stays) {
  std::string problem;
  const Settings settings =
      settings_of({"ENTRAIN_SYNC_MAX_MESSAGES=1.5", "ENTRAIN_SYNC_PERIOD=0x10",
                   "ENTRAIN_RECORD_BUFFER=1K", "ENTRAIN_SYNCED_HOST=perhaps",
                   "ENTRAIN_RECORD_MAX_SIZE=2T", "ENTRAIN_RECORD_MAX_LOCATIONS=0"},
                  problem);
  EXPECT_THAT(problem, HasSubstr("ENTRAIN_SYNC_MAX_MESSAGES is '1.5', but must be a whole number"));
  EXPECT_THAT(problem, HasSubstr("ENTRAIN_SYNC_PERIOD is '0x10', but must be a number from 0"));
  EXPECT_THAT(problem, HasSubstr("ENTRAIN_RECORD_BUFFER is '1K', but must be a size"));
  EXPECT_THAT(problem, HasSubstr("ENTRAIN_SYNCED_HOST is 'perhaps', but must be one of auto"));
  EXPECT_THAT(problem, HasSubstr("ENTRAIN_RECORD_MAX_SIZE is '2T', but must be a size"));
  EXPECT_THAT(problem, HasSubstr("ENTRAIN_RECORD_MAX_LOCATIONS is '0', but must be a whole"));
  EXPECT_EQ(settings.most_bytes, 0u);
  EXPECT_EQ(settings.most_locations, 0u);
  EXPECT_EQ(settings.sync.max_messages, 100u);
  EXPECT_EQ(settings.sync.period_s, 0);
  EXPECT_EQ(settings.buffer_bytes, 16u << 20);
}

TEST(Settings, bad_values_are_told_printable_and_short) {
  std::string problem, value = "\x1B[31m\u202E";
  value += std::string(100'000, 'x');
  settings_of({"ENTRAIN_SYNC_DROP=" + value}, problem);
  EXPECT_THAT(problem, HasSubstr("ENTRAIN_SYNC_DROP is '\\u001b[31m\\u202exxx"));
  EXPECT_LT(problem.size(), 200u);
}

TEST(Settings, a_clock_that_may_be_set_back_stamps_no_events) {
  std::string problem;
  EXPECT_EQ(settings_of({"ENTRAIN_RECORD_TIMER=realtime"}, problem).timer,
            TimerKind::monotonic_raw);
  EXPECT_THAT(problem, HasSubstr("ENTRAIN_RECORD_TIMER is 'realtime', but must be another one"));
  problem.clear();
  const Settings settings =
      settings_of({"ENTRAIN_RECORD_TIMER=realtime", "ENTRAIN_RECORD_CLOCKS_ONLY=on"}, problem);
  EXPECT_THAT(problem, IsEmpty());
  EXPECT_TRUE(settings.clocks_only);
  EXPECT_EQ(settings.timer, TimerKind::realtime);
}

TEST(Settings, the_folder_is_an_absolute_path) {
  std::string problem;
  ::setenv("ENTRAIN_RECORD_DIR", "some/folder//", 1);
  const Settings settings = read_settings(own_variables(), problem);
  ::unsetenv("ENTRAIN_RECORD_DIR");
  EXPECT_EQ(settings.directory, (std::filesystem::current_path() / "some/folder").string());
}

}  // namespace
}  // namespace entrain::record
