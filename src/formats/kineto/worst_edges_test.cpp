// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/run.hpp"

#include <fmt/format.h>

#include "formats/kineto/collective_calls.hpp"
#include "formats/kineto/kineto_testing.hpp"

namespace entrain::kineto {
namespace {

TEST(Label, is_what_a_viewer_shows) {
  EXPECT_EQ(label_of("ncclDevKernel_AllReduce(ncclDevKernelArgs<4096ul>)", "24"),
            "ncclDevKernel_AllReduce on stream 24");
  EXPECT_EQ(label_of("void (anonymous namespace)::run(int)", ""),
            "void (anonymous namespace)::run(int)");
  EXPECT_EQ(label_of(R"(a \"kernel\")", "7"), R"(a "kernel" on stream 7)");
  const std::string most(63, 'x');
  EXPECT_EQ(label_of(fmt::format("{}\xC3\xA9y", most), ""), fmt::format("{}...", most));
}

/// Ranks of which the second one is 1 ms late, in steps 4 and 5 of the loop.
TEST_F(Chrome, the_worst_collective_is_named_by_kernel_stream_and_step) {
  for (const double late : {0., 1'000.}) {
    std::vector<std::string> events;
    for (const int step : {4, 5}) {
      const double begin = 1e15 + step * 10'000. + late;
      events.push_back(fmt::format(
          R"({{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{}", "pid": 1, "tid": 1, )"
          R"("ts": {:.3f}, "dur": 9000}})",
          step, begin));
      events.push_back(fmt::format(
          R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, )"
          R"("ts": {:.3f}, "dur": 5, "args": {{"correlation": {}}}}})",
          begin + 50, step));
      events.push_back(
          fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_RING", )"
                      R"("pid": 0, "tid": 7, "ts": {:.3f}, "dur": {}, )"
                      R"("args": {{"stream": 7, "correlation": {}, "Comms Id": 1, "Seq": {}}}}})",
                      begin + 100, step * 10, step, step));
    }
    add(file_of(events));
  }
  const auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  const auto name = [&](std::uint32_t clock, double us) {
    return (*run)->event_name(clock, static_cast<std::uint64_t>(us) * 1'000);
  };
  // The shorter call ends earlier: before the other rank begins it.
  const std::string step = "ncclDevKernel_AllReduce_RING on stream 7, ProfilerStep#4";
  EXPECT_EQ((*run)->clocks.clocks[2].name, "rank 0 device 0");
  EXPECT_EQ(name(2, 1e15 + 40'140), step);
  EXPECT_EQ(name(3, 1e15 + 41'100), step);
  EXPECT_EQ(name(2, 1e15 + 50'150), "");  // not the worst one
}

TEST_F(Chrome, a_kernel_before_its_launch_is_named) {
  add(file_of(
      {R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1000, )"
       R"("dur": 90})",
       R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, )"
       R"("ts": 1000, "dur": 5, "args": {"correlation": 3}})",
       R"({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 900, "dur": 10, )"
       R"("args": {"stream": 7, "correlation": 3}})"}));
  const auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->event_name(0, 1'000'000), "cudaLaunchKernel");
  EXPECT_EQ((*run)->event_name(1, 900'000), "gemm on stream 7");
}

TEST_F(Chrome, edges_that_hold_need_no_names) {
  add_calls({100, 200});
  add_calls({101, 201});
  EXPECT_TRUE(open().value()->event_names.empty());
}

}  // namespace
}  // namespace entrain::kineto
