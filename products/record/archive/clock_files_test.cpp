// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/clock_files.hpp"

#include <gmock/gmock.h>

#include "record/archive/folders.hpp"
#include "record/base/scratch_testing.hpp"

namespace entrain::record {
namespace {

using testing::HasSubstr;

std::vector<ProcessRecord> two_processes() {
  std::vector<ProcessRecord> processes(2);
  processes[1].rank = 1;
  return processes;
}

TEST(ClockFiles, without_exchanges_there_are_none) {
  const ScratchFolder scratch;
  EXPECT_TRUE(write_clock_files(scratch / "", Merged(two_processes())));
  EXPECT_TRUE(std::filesystem::is_empty(scratch / ""));
}

TEST(ClockFiles, samples_and_delays_lie_beside_the_archive) {
  const ScratchFolder scratch;
  auto processes = two_processes();
  processes[1].measured = true;
  processes[1].samples = {{0, 1000, 2000, 10, true}};
  EXPECT_TRUE(write_clock_files(scratch / "", Merged(processes)));
  EXPECT_THAT(content_of(scratch / "clock_samples.csv"), HasSubstr("0,1,0,1000,2000,2000,10,1"));
  EXPECT_THAT(content_of(scratch / "clock_delays.csv"), HasSubstr(",10,5,5"));
  EXPECT_FALSE(write_clock_files(scratch / "missing", Merged(processes)));
}

TEST(ClockFiles, virtual_clocks_lie_beside_the_true_times) {
  const ScratchFolder scratch;
  auto processes = two_processes();
  for (auto& process : processes) process.clock_description = "offset_ns=7";
  const std::string directory = scratch / "trace";
  std::filesystem::create_directories(truth_folder(directory));
  EXPECT_TRUE(write_clock_files(directory, Merged(processes)));
  EXPECT_THAT(content_of(truth_folder(directory) + "/virtual_clocks.txt"),
              HasSubstr("rank=1 host= offset_ns=7"));
}

}  // namespace
}  // namespace entrain::record
