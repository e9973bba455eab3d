// SPDX-License-Identifier: BSD-3-Clause
#include "record/clocks/clock_tables.hpp"

#include <gmock/gmock.h>

namespace entrain::record {
namespace {

using testing::EndsWith;

/// The exchange that ClockSample takes as its example, and a worse one.
std::vector<ProcessRecord> two_processes() {
  std::vector<ProcessRecord> processes(2);
  processes[0].host = "a";
  processes[1].host = "b";
  processes[1].rank = 1;
  processes[1].measured = true;
  processes[1].samples = {{0, 1'000'400, 5'000'300, 800, true},
                          {0, 1'003'000, 5'003'100, 2000, false}};
  return processes;
}

TEST(ClockPoints, the_example_of_the_header) {
  const auto points = clock_points(two_processes());
  ASSERT_EQ(points[1].size(), 1u);
  EXPECT_EQ(points[1][0].local, 1'000'400u);
  EXPECT_EQ(points[1][0].offset, 3'999'900);
  EXPECT_EQ(points[1][0].half_width, 401u);
}

TEST(ClockTables, records_and_processes_have_a_line_each) {
  auto processes = two_processes();
  processes[1].host = "b,c";
  processes[1].timer = "timer";
  processes[1].realtime_at = 1'000'000;
  EXPECT_THAT(offsets_as_csv(clock_points(processes)),
              EndsWith("half_width_ticks\n0,0,5000300,0,0\n0,1,1000400,3999900,401\n"));
  EXPECT_THAT(processes_as_csv(processes),
              EndsWith("0,a,,1000000000,0,0,0\n1,b;c,timer,1000000000,1000000,1003000,1\n"));
}

TEST(ClockTables, only_what_was_proved_is_shared) {
  std::vector<ProcessRecord> processes(6);
  for (const std::size_t p : {1, 2, 4, 5}) {
    processes[p].shares_parents_clock = processes[p].proved = true;
    processes[p].parent = p < 3 ? 0 : 3;
  }
  EXPECT_EQ(shared_clocks_as_text(processes), "0-2 3-5");
  processes[4].proved = false;  // told by the user
  processes[5].proved = false;
  EXPECT_EQ(shared_clocks_as_text(processes), "0-2");
}

TEST(ClockTables, one_line_per_exchange) {
  const auto processes = two_processes();
  EXPECT_THAT(samples_as_csv(processes, clock_points(processes)),
              EndsWith("round_trip_ticks,kept\n"
                       "0,1,0,1000400,5000300,5000300,800,1\n"
                       "0,1,0,1003000,5003100,5003100,2000,0\n"));
}

TEST(ClockTables, shortest_delays_per_pair_of_hosts) {
  const auto processes = two_processes();
  // Sent at 1,000,000 + 3,999,900 of the master's time, answered at 5,000,300.
  EXPECT_THAT(delays_as_csv(processes, clock_points(processes)), EndsWith("\nb,a,800,400,400\n"));
}

TEST(ClockTables, without_samples_only_the_head) {
  const std::vector<ProcessRecord> processes(1);
  EXPECT_THAT(samples_as_csv(processes, clock_points(processes)), EndsWith("kept\n"));
  EXPECT_THAT(delays_as_csv({}, {}), EndsWith("min_to_child_ticks\n"));
}

}  // namespace
}  // namespace entrain::record
