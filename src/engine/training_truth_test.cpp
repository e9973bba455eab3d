// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <entrain/entrain.hpp>

#include "base/temp_folder_testing.hpp"
#include "engine/recordings.hpp"

namespace entrain::engine {
namespace {

constexpr std::int64_t k_us = 1000, k_ms = 1'000'000;

/// A run of a training loop: all ranks call one collective after the other.
struct Truth {
  static constexpr int k_calls = 120;
  static constexpr std::int64_t k_origin = 1'700'000'000'000'000'000;

  explicit Truth(std::uint64_t ranks) : random(ranks), offset(ranks), rate(ranks), ends(ranks) {
    for (std::uint64_t r = 0; r < ranks; ++r) {
      offset[r] = between(-10 * k_ms, 10 * k_ms);
      rate[r] = static_cast<double>(between(-50, 50)) * 1e-6;
    }
  }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  }
  /// What the clock of a rank shows, ns since the origin.
  [[nodiscard]] std::int64_t shown(std::size_t rank, std::int64_t time) const {
    return time + offset[rank] + std::llround(rate[rank] * static_cast<double>(time));
  }

  std::mt19937_64 random;
  std::vector<std::int64_t> offset;
  std::vector<double> rate;
  std::vector<std::vector<std::int64_t>> ends;  ///< per rank, true, ns since the origin
};

std::string event_text(std::int64_t begin, std::int64_t end) {
  const std::int64_t at = Truth::k_origin + begin;
  return fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum", )"
                     R"("ts": {}.{:03}, "dur": {}.{:03}, "args": {{"stream": 7}}}})",
                     at / k_us, at % k_us, (end - begin) / k_us, (end - begin) % k_us);
}

/// Writes the files of the run. Kernels end within 2 us, and begin up to 3 ms before that.
void write_run(Truth& truth, TempFolder& folder) {
  std::vector<std::vector<std::string>> events(truth.offset.size());
  std::int64_t time = 50 * k_ms;
  for (int call = 0; call < Truth::k_calls; ++call) {
    time += truth.between(4 * k_ms, 15 * k_ms);
    for (std::size_t r = 0; r < events.size(); ++r) {
      const std::int64_t end = time + truth.between(0, 2 * k_us);
      const std::int64_t begin = time - truth.between(50 * k_us, 3 * k_ms);
      truth.ends[r].push_back(end);
      events[r].push_back(event_text(truth.shown(r, begin), truth.shown(r, end)));
    }
  }
  for (std::size_t r = 0; r < events.size(); ++r) {
    const std::string text = fmt::format(
        R"({{"distributedInfo": {{"rank": {}, "world_size": {}}}, "traceEvents": [{}]}})", r,
        events.size(), fmt::join(events[r], ",\n"));
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    folder.put(fmt::format("rank{}.json", r), {bytes, text.size()});
  }
}

std::int64_t median(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class TrainingTruth : public ::testing::TestWithParam<std::uint64_t> {};

/// Errors of the ends against those of the first rank, whose own time nobody can know.
TEST_P(TrainingTruth, ends_come_within_5_us) {
  Truth truth(GetParam());
  TempFolder folder;
  const TempFolder out;
  write_run(truth, folder);
  const auto report = entrain::correct(folder.path(), out / "fixed", {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->judgement->verdict, Verdict::clean);
  const auto fixed = open_recording({out / "fixed"}, 1);
  ASSERT_TRUE(fixed);
  ASSERT_EQ((*fixed)->list.instances.size(), std::size_t{Truth::k_calls});
  std::vector<std::int64_t> errors;
  std::size_t call = 0;
  for (const CollectiveInstance& one : (*fixed)->list.instances) {
    ASSERT_EQ(one.ends, truth.ends.size());
    const InstanceMember* const ends = &(*fixed)->list.members[one.first + one.begins];
    const auto error = [&](std::size_t r) {
      return static_cast<std::int64_t>(ends[r].time) - truth.ends[r][call];
    };
    for (std::size_t r = 1; r < truth.ends.size(); ++r) {
      errors.push_back(std::abs(error(r) - error(0)));
    }
    ++call;
  }
  EXPECT_LT(median(errors), 5 * k_us);
}

/// The proof limits when an event of a rank was, on the clock of the reference: the truth is there.
TEST_P(TrainingTruth, true_times_are_inside_the_bounds) {
  Truth truth(GetParam());
  TempFolder folder;
  write_run(truth, folder);
  CheckOptions options;
  options.presync = Presync::none;
  options.bounds.wanted = true;
  options.bounds.rows = true;
  const auto report = entrain::check(folder.path(), options);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(report->bounds);
  ASSERT_EQ(report->bounds->reason, "");
  std::uint64_t bounded = 0, outside = 0;
  for (const BoundsRow& row : report->bounds->rows) {
    if (!row.bounded) continue;
    ++bounded;
    const std::int64_t stamp = static_cast<std::int64_t>(row.local_ticks) - Truth::k_origin;
    // shown = time + offset + rate * time
    const auto time = static_cast<std::int64_t>(std::llround(
        static_cast<double>(stamp - truth.offset[row.location]) / (1 + truth.rate[row.location])));
    const std::int64_t there = Truth::k_origin + truth.shown(report->bounds->reference, time);
    outside += there < row.earliest_ticks - 2 || there > row.latest_ticks + 2 ? 1 : 0;
  }
  EXPECT_GT(bounded, 100 * GetParam());
  EXPECT_EQ(outside, 0U);
}

INSTANTIATE_TEST_SUITE_P(Ranks, TrainingTruth, ::testing::Values(8, 64));

}  // namespace
}  // namespace entrain::engine
