// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <entrain/entrain.hpp>

#include "support/accelerator_archive.hpp"
#include "support/files.hpp"
#include "support/oracle.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

using testing::Contains;
using testing::HasSubstr;

constexpr std::int64_t k_micro = accelerators::k_micro, k_milli = accelerators::k_milli;
constexpr int k_steps = accelerators::k_steps;

/// Least and largest error of the times of a location: 0 and 2 are threads, 1 and 3 streams.
std::pair<std::int64_t, std::int64_t> errors_of_location(const fs::path& anchor,
                                                         const fs::path& truth,
                                                         std::size_t location) {
  const auto times = library_times(anchor), right = library_times(truth);
  std::pair<std::int64_t, std::int64_t> found{INT64_MAX, INT64_MIN};
  for (std::size_t e = 0; e < right[location].times.size(); ++e) {
    const auto error =
        static_cast<std::int64_t>(times[location].times[e] - right[location].times[e]);
    found = {std::min(found.first, error), std::max(found.second, error)};
  }
  return found;
}

constexpr auto k_true_times = [](std::uint64_t, bool, std::int64_t time) { return time; };

TEST(Accelerators, kernels_are_checked_against_launches_and_waits) {
  const TempFolder scratch;
  accelerators::write_archive(scratch / "in", k_true_times);
  const auto clean = check(scratch / "in", {});
  ASSERT_TRUE(clean) << clean.error().message;
  EXPECT_EQ(clean->edges[static_cast<std::size_t>(EdgeKind::thread)].count, 2U * 3 * k_steps);
  EXPECT_EQ(clean->violations, 0U);
  EXPECT_EQ(clean->judgement.verdict, Verdict::clean);
  for (const std::int64_t off : {-300 * k_micro, 300 * k_micro}) {
    const fs::path wrong = scratch / std::to_string(off);
    accelerators::write_archive(wrong, [&](std::uint64_t rank, bool is_device, std::int64_t time) {
      return time + (rank == 1 && is_device ? off : 0);
    });
    const auto found = check(wrong, {});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->judgement.verdict, Verdict::violations) << off;
  }
}

/// Edges of kernels in a trace whose launches and waits all name their stream.
std::uint64_t kernel_edges(const fs::path& trace) {
  const auto report = check(trace, {});
  return report ? report->edges[static_cast<std::size_t>(EdgeKind::thread)].count : 0;
}

TEST(Accelerators, event_files_may_number_the_attribute_of_streams_in_their_own_way) {
  const TempFolder scratch;
  accelerators::write_archive(scratch / "in", k_true_times, false, 7);
  EXPECT_EQ(kernel_edges(scratch / "in"), 2U * 3 * k_steps);
}

/// The second archive's locations have the ids of the first one's.
TEST(Accelerators, of_several_archives_have_their_own_streams) {
  const TempFolder scratch;
  for (const std::string name : {"a", "b"}) {
    const fs::path from = scratch / (name + "_alone"), run = scratch / "run";
    accelerators::write_archive(from, k_true_times);
    fs::create_directory(run);
    for (const std::string part : {"", ".otf2", ".def"}) {
      fs::rename(from / ("traces" + part), run / (name + part));
    }
  }
  EXPECT_EQ(kernel_edges(scratch / "run"), 2U * 2 * 3 * k_steps);
}

TEST(Accelerators, one_that_is_off_moves_alone) {
  const TempFolder scratch;
  accelerators::write_archive(scratch / "truth", k_true_times);
  for (const std::int64_t off : {-300 * k_micro, 300 * k_micro}) {
    const fs::path wrong = scratch / std::to_string(off);
    accelerators::write_archive(wrong, [&](std::uint64_t rank, bool is_device, std::int64_t time) {
      return time + (rank == 1 && is_device ? off : 0);
    });
    for (const WriteMode mode : {WriteMode::rewrite, WriteMode::overlay}) {
      CorrectOptions options;
      options.mode = mode;
      const fs::path out =
          scratch / ("out" + std::to_string(static_cast<int>(mode)) + std::to_string(off));
      const auto report = correct(wrong, out, options);
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_EQ(report->after.violations, 0U);
      EXPECT_EQ(report->after.judgement.verdict, Verdict::clean);
      for (const std::size_t right : {0U, 1U, 2U}) {
        EXPECT_EQ(errors_of_location(report->output, scratch / "truth/traces.otf2", right),
                  std::pair(INT64_C(0), INT64_C(0)))
            << right;
      }
      const auto [least, most] =
          errors_of_location(report->output, scratch / "truth/traces.otf2", 3);
      EXPECT_GE(least, -10 * k_micro) << off;
      EXPECT_LE(most, 10 * k_micro) << off;
    }
  }
}

TEST(Accelerators, of_processes_on_one_machine_move_alone) {
  const TempFolder scratch;
  accelerators::write_archive(scratch / "truth", k_true_times, true);
  const auto shown = [](std::uint64_t rank, bool is_device, std::int64_t time) {
    return time + (rank == 1 && is_device ? 300 * k_micro : 0);
  };
  accelerators::write_archive(scratch / "wrong", shown, true);
  const auto report = correct(scratch / "wrong", scratch / "out", {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->after.violations, 0U);
  const fs::path truth = scratch / "truth/traces.otf2";
  for (const std::size_t right : {0U, 1U, 2U}) {
    EXPECT_EQ(errors_of_location(report->output, truth, right),
              (std::pair<std::int64_t, std::int64_t>{0, 0}));
  }
  const auto device = errors_of_location(report->output, truth, 3);
  EXPECT_GT(device.first, -10 * k_micro);
  EXPECT_LT(device.second, 10 * k_micro);
}

TEST(Accelerators, they_move_with_their_process) {
  const TempFolder scratch;
  accelerators::write_archive(scratch / "truth", k_true_times);
  accelerators::write_archive(
      scratch / "wrong", [](std::uint64_t rank, bool is_device, std::int64_t time) {
        if (rank == 0) return time;
        const std::int64_t drift = (time - 1'000 * k_milli) / 20'000;  // 50 ppm
        return time + 7 * k_milli + drift - (is_device ? 400 * k_micro : 0);
      });
  const auto report = correct(scratch / "wrong", scratch / "out", {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->after.violations, 0U);
  EXPECT_THAT(report->timeline.notes, Contains(HasSubstr("CUDA[0:7] of MPI Rank 1 differs")));
  const auto host = errors_of_location(report->output, scratch / "truth/traces.otf2", 2);
  const auto device = errors_of_location(report->output, scratch / "truth/traces.otf2", 3);
  for (const std::int64_t error : {device.first, device.second}) {
    EXPECT_NEAR(static_cast<double>(error), static_cast<double>(host.first), 10. * k_micro);
  }
}

/// A calibration that is 400 ppm off: no constant meets the edges.
TEST(Accelerators, one_that_drifts_follows_its_process) {
  const TempFolder scratch;
  accelerators::write_archive(scratch / "truth", k_true_times);
  accelerators::write_archive(
      scratch / "wrong", [](std::uint64_t rank, bool is_device, std::int64_t time) {
        return time + (rank == 1 && is_device ? (time - 1'200 * k_milli) / 2'500 : 0);
      });
  const auto report = correct(scratch / "wrong", scratch / "out", {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->after.violations, 0U);
  for (const std::size_t right : {0U, 1U, 2U}) {
    EXPECT_EQ(errors_of_location(report->output, scratch / "truth/traces.otf2", right),
              std::pair(INT64_C(0), INT64_C(0)));
  }
  const auto [least, most] = errors_of_location(report->output, scratch / "truth/traces.otf2", 3);
  EXPECT_GE(least, -10 * k_micro);
  EXPECT_LE(most, 10 * k_micro);
}

}  // namespace
}  // namespace entrain::test
