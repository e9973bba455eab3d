// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <entrain/entrain.hpp>

#include "base/temp_folder_testing.hpp"
#include "carriers/carried_clocks.hpp"
#include "engine/verbs.hpp"
#include "formats/registry/open_testing.hpp"

namespace entrain::engine {
namespace {

namespace fs = std::filesystem;

constexpr double k_unix_us = 1'760'000'000e6;

/// A rank that launches a kernel every 10 ms and waits for its device after each; kernels begin
/// 8 us after their launch. `shown`: what the device's clock shows.
template <class Shown>
void write_rank(const TempFolder& folder, int rank, const Shown& shown, double host_late = 0) {
  std::string text = R"({"traceEvents": [)";
  for (int k = 1; k <= 60; ++k) {
    const double host = k_unix_us + 10'000.0 * k + 700.0 * (k % 7) + host_late;
    const double begin = shown(host - host_late + 8), end = shown(host - host_late + 508);
    text += fmt::format(
        R"({}{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 90, "tid": 90, )"
        R"("ts": {:.3f}, "dur": 5, "args": {{"correlation": {}}}}}, {{"ph": "X", "cat": "kernel", )"
        R"("name": "ncclDevKernel_AllReduce_Sum_f32", "pid": 0, "tid": 7, "ts": {:.3f}, "dur": )"
        R"({:.3f}, "args": {{"correlation": {}, "stream": 7, "Comms Id": 5, "Seq": {}}}}}, )"
        R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 90, )"
        R"("tid": 90, "ts": {:.3f}, "dur": {:.3f}, "args": {{"correlation": {}}}}})",
        k == 1 ? "" : ",\n", host, k, begin, end - begin, k, k, host + 20, 508 - 20 + 6.0,
        1'000 + k);
  }
  text += "]}";
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  folder.put(fmt::format("rank{}.json", rank), {bytes, text.size()});
}

double right(double time) { return time; }

CorrectReport corrected(const fs::path& input, const fs::path& output) {
  auto report = entrain::correct(input, output, {});
  EXPECT_TRUE(report) << report.error().message;
  return report ? *std::move(report) : CorrectReport();
}

/// Largest distance of a clock of `fixed` from what `truth` shows, ns.
std::int64_t error_of(const fs::path& fixed, const fs::path& truth, std::size_t clock) {
  const auto a = formats::open_recording({fixed}, 1), b = formats::open_recording({truth}, 1);
  EXPECT_TRUE(a && b);
  const auto x = (*a)->event_times(), y = (*b)->event_times();
  EXPECT_TRUE(x && y);
  std::int64_t most = 0;
  for (std::size_t i = 0; i < x->of_clock[clock].size(); ++i) {
    const std::int64_t apart = x->of_clock[clock][i].time() - y->of_clock[clock][i].time();
    most = std::max(most, std::abs(apart));
  }
  return most;
}

TEST(CarriedClocks, a_lone_rank_is_checked_against_its_device) {
  const TempFolder truth, wrong, out;
  write_rank(truth, 0, right);
  const auto clean = entrain::check(truth.path(), {});
  ASSERT_TRUE(clean);
  EXPECT_EQ(clean->violations, 0U);
  EXPECT_EQ(clean->checked_edges, 120U);
  write_rank(wrong, 0, [](double time) { return time - 400; });
  const auto found = entrain::check(wrong.path(), {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->judgement.verdict, Verdict::violations);
  EXPECT_EQ(found->violations, 60U);
  const CorrectReport report = corrected(wrong.path(), out / "fixed");
  EXPECT_EQ(report.after.violations, 0U);
  EXPECT_EQ(error_of(out / "fixed", truth.path(), 0), 0);
  EXPECT_LE(error_of(out / "fixed", truth.path(), 1), 8'000);
}

/// One kernel begins 5 ms before its launch, or ends 50 ms late: no clock shows that, and most
/// launches and waits say the same of all clocks.
TEST(CarriedClocks, a_wrong_stamp_of_a_kernel_moves_no_clock) {
  constexpr double k_launch = k_unix_us + 10'000.0 * 30 + 700.0 * (30 % 7);
  for (const bool begins : {true, false}) {
    const TempFolder wrong, out;
    for (int rank = 0; rank < 3; ++rank) {
      write_rank(wrong, rank, [&](double time) {
        if (rank != 1) return time;
        if (begins && std::abs(time - k_launch - 8) < 1) return time - 5'000;
        return !begins && std::abs(time - k_launch - 508) < 1 ? time + 50'000 : time;
      });
    }
    const CorrectReport report = corrected(wrong.path(), out / "fixed");
    EXPECT_EQ(report.after.judgement.verdict, Verdict::unproven);
    EXPECT_EQ(report.after.judgement.doubt, Doubt::contradictory_edges);
    for (std::size_t clock = 0; clock < 6; ++clock) {
      EXPECT_EQ(error_of(out / "fixed", wrong.path(), clock), 0) << clock;
    }
  }
}

/// Launches bound it from one side, calls that wait from the other one.
TEST(CarriedClocks, a_device_that_drifts_or_counts_from_its_boot_moves_no_host) {
  const auto boot = [](double time) { return time - 1'700'000'000e6; };
  const auto late = [](double time) { return time + 250 + (time - k_unix_us) * 2e-5; };
  const auto early = [](double time) { return time - 60 - (time - k_unix_us) * 2e-4; };
  const TempFolder truth, wrong, out;
  for (int rank = 0; rank < 4; ++rank) write_rank(truth, rank, right);
  write_rank(wrong, 0, right);
  write_rank(wrong, 1, boot);
  write_rank(wrong, 2, late);
  write_rank(wrong, 3, early);
  const CorrectReport report = corrected(wrong.path(), out / "fixed");
  EXPECT_EQ(report.after.violations, 0U);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(error_of(out / "fixed", truth.path(), rank), 0) << rank;
    EXPECT_LE(error_of(out / "fixed", truth.path(), 4 + rank), 15'000) << rank;
  }
}

/// Launches and waits leave 14 us; the middle of these is 1 us off.
TEST(CarriedClocks, a_device_that_wanders_is_centred_between_launches_and_waits) {
  const auto wandering = [](double time) {
    return time + 15 * std::sin((time - k_unix_us) * 2 * 3.14159 / 800'000);
  };
  const TempFolder truth, wrong, out;
  write_rank(truth, 0, right);
  write_rank(wrong, 0, wandering);
  const CorrectReport report = corrected(wrong.path(), out / "fixed");
  EXPECT_EQ(report.after.violations, 0U);
  EXPECT_EQ(error_of(out / "fixed", truth.path(), 0), 0);
  EXPECT_LE(error_of(out / "fixed", truth.path(), 1), 3'000);
}

/// Less than rates of clocks explain in the 10 ms from one launch to the next.
TEST(CarriedClocks, a_device_that_was_set_by_little_is_named) {
  const auto set = [](double time) { return time + (time > k_unix_us + 303'000 ? 60 : 0); };
  const TempFolder truth, wrong, out;
  write_rank(truth, 0, right);
  write_rank(wrong, 0, set);
  const CorrectReport report = corrected(wrong.path(), out / "fixed");
  EXPECT_EQ(report.after.violations, 0U);
  ASSERT_EQ(report.before.explanations.size(), 1U);
  const ClockExplanation& found = report.before.explanations[0];
  EXPECT_EQ(found.clocks, std::vector<std::string>{"rank 0 device 0"});
  EXPECT_NEAR(static_cast<double>(*found.size_ticks), 60'000, 10'000);
  EXPECT_EQ(error_of(out / "fixed", truth.path(), 0), 0);
  EXPECT_LE(error_of(out / "fixed", truth.path(), 1), 8'000);
}

TEST(CarriedClocks, a_device_goes_with_its_host) {
  const TempFolder truth, wrong, out;
  for (int rank = 0; rank < 4; ++rank) {
    write_rank(truth, rank, right);
    const double by = rank == 2 ? 3'000 : 0;
    write_rank(
        wrong, rank, [by](double time) { return time + by; }, by);
  }
  const CorrectReport report = corrected(wrong.path(), out / "fixed");
  EXPECT_EQ(report.after.violations, 0U);
  for (std::size_t clock = 0; clock < 8; ++clock) {
    EXPECT_LE(error_of(out / "fixed", truth.path(), clock), 1'000) << clock;
  }
}

/// A rank that never waits for its device. `host` and `device`: what their clocks show, us.
template <class Host, class Device>
void write_loop(const TempFolder& folder, int rank, const Host& host, const Device& device) {
  std::string text = R"({"traceEvents": [)";
  for (int k = 1; k <= 120; ++k) {
    const double last = k_unix_us + 10'000.0 * k + 700.0 * (k % 7);
    const double begin = last - (k + rank) % 4 * (90.0 + k % 5 * 20);
    text += fmt::format(
        R"({}{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 90, "tid": 90, )"
        R"("ts": {:.3f}, "dur": 5, "args": {{"correlation": {}}}}}, {{"ph": "X", "cat": "kernel", )"
        R"("name": "ncclDevKernel_AllReduce_Sum_f32", "pid": 0, "tid": 7, "ts": {:.3f}, "dur": )"
        R"({:.3f}, "args": {{"correlation": {}, "stream": 7, "Comms Id": 5, "Seq": {}}}}})",
        k == 1 ? "" : ",\n", host(begin - 20 - k % 3), k, device(begin),
        device(last + 100 + (k * 5 + rank * 3) % 7 * 0.3) - device(begin), k, k);
  }
  text += "]}";
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  folder.put(fmt::format("rank{}.json", rank), {bytes, text.size()});
}

/// Largest distance of a clock from what it should show, but for a tenth of its times, ns.
std::int64_t usual_error_of(const fs::path& fixed, const fs::path& truth, std::size_t clock) {
  const auto a = formats::open_recording({fixed}, 1), b = formats::open_recording({truth}, 1);
  EXPECT_TRUE(a && b);
  const auto x = (*a)->event_times(), y = (*b)->event_times();
  EXPECT_TRUE(x && y);
  std::vector<std::int64_t> apart;
  for (std::size_t i = 0; i < x->of_clock[clock].size(); ++i) {
    apart.push_back(std::abs(x->of_clock[clock][i].time() - y->of_clock[clock][i].time()));
  }
  std::sort(apart.begin(), apart.end());
  return apart[apart.size() * 9 / 10];
}

/// Corrects four ranks, of which the host and the device of the second one show other times.
/// `set`: the clock that was set, once per step; `most`: largest usual error, ns; `size`: by which
/// the first step sets it ahead, ns, if it is to be judged.
template <class Host, class Device>
void expect_right(const Host& host, const Device& device, const std::vector<std::string>& set,
                  std::int64_t most, std::optional<double> size = std::nullopt) {
  const TempFolder truth, wrong, out;
  for (int rank = 0; rank < 4; ++rank) {
    write_loop(truth, rank, right, right);
    rank == 1 ? write_loop(wrong, rank, host, device) : write_loop(wrong, rank, right, right);
  }
  const CorrectReport report = corrected(wrong.path(), out / "fixed");
  EXPECT_EQ(report.after.violations, 0U);
  ASSERT_EQ(report.before.explanations.size(), set.size());
  for (std::size_t i = 0; i < set.size(); ++i) {
    EXPECT_EQ(report.before.explanations[i].clocks, std::vector<std::string>{set[i]});
  }
  if (size) {
    EXPECT_NEAR(static_cast<double>(*report.before.explanations[0].size_ticks), *size, 20'000);
  }
  for (std::size_t clock = 0; clock < 8; ++clock) {
    EXPECT_LE(usual_error_of(out / "fixed", truth.path(), clock), most) << clock;
  }
}

TEST(CarriedClocks, a_host_that_was_set_carries_its_device) {
  for (const double step : {5'000.0, -3'000.0, -25'000.0}) {  // the last one shows times twice
    const auto set = [step](double time) { return time + (time < k_unix_us + 703'000 ? 0 : step); };
    expect_right(set, set, {"rank 1"}, 5'000, step * 1'000);
  }
}

/// The clock is set by 5 s beside the first call, which then contradicts all others: no step is
/// told for one call. It moves nobody, neither in the correction nor in what is checked afterwards.
TEST(CarriedClocks, a_call_that_contradicts_the_others_moves_no_rank) {
  const auto set = [](double time) { return time + (time < k_unix_us + 15'000 ? 0 : 5e6); };
  const TempFolder truth, wrong, out;
  for (int rank = 0; rank < 4; ++rank) {
    write_loop(truth, rank, right, right);
    rank == 1 ? write_loop(wrong, rank, set, set) : write_loop(wrong, rank, right, right);
  }
  const CorrectReport report = corrected(wrong.path(), out / "fixed");
  EXPECT_EQ(report.judgement->verdict, Verdict::unproven);
  EXPECT_EQ(report.after.violations, 0U);
  for (const std::size_t clock : {0U, 2U, 3U, 4U, 6U, 7U}) {
    EXPECT_LE(error_of(out / "fixed", truth.path(), clock), 1'000) << clock;
  }
  for (const std::size_t clock : {1U, 5U}) {
    EXPECT_LE(usual_error_of(out / "fixed", truth.path(), clock), 5'000) << clock;
  }
}

/// Times from launch to kernel change with the device: its host is right.
TEST(CarriedClocks, a_device_that_is_calibrated_anew_moves_no_host) {
  const auto calibrated = [](double time) {
    const double since = time - k_unix_us;
    return time + (since < 403'000 ? 150 : since < 803'000 ? -700 : 400);
  };
  expect_right(right, calibrated, {"rank 1 device 0", "rank 1 device 0"}, 25'000);
}

TEST(CarriedClocks, clocks_of_processes_of_their_own_carry_nothing) {
  EXPECT_FALSE(carriers::has_carried(std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_TRUE(carriers::has_carried(std::vector<std::uint32_t>{0, 1, 0}));
}

}  // namespace
}  // namespace entrain::engine
