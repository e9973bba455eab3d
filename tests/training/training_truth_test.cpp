// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include <entrain/entrain.hpp>

#include "base/file.hpp"
#include "base/temp_folder_testing.hpp"
#include "formats/registry/open_testing.hpp"

namespace entrain::engine {
namespace {

constexpr std::int64_t k_us = 1000;

struct Case {
  std::uint64_t ranks = 8;
  bool numbered = true;  ///< calls have numbers; else sequences are aligned
  double wander_ppm = 0;
};

/// Takes the numbers from the calls of all files.
void forget_numbers(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto bytes = read_file(entry.path(), File::k_any_size);
    ASSERT_TRUE(bytes);
    std::string text(bytes->begin(), bytes->end());
    constexpr std::string_view k_key = "\"Comms Id\"", k_other = "\"Forgotten\"";
    for (std::size_t at = 0; (at = text.find(k_key, at)) != std::string::npos;) {
      text.replace(at, k_key.size(), k_other);
    }
    std::filesystem::remove(entry.path());
    const auto* const data = reinterpret_cast<const std::uint8_t*>(text.data());
    ASSERT_TRUE(write_file(entry.path(), {data, text.size()}));
  }
}

/// A synthetic training run, and the same with wrong clocks.
class TrainingTruth : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    SynthOptions synth;
    synth.format = SynthFormat::chrome;
    synth.locations = GetParam().ranks;
    synth.events = 3000 * GetParam().ranks;
    synth.communication_share = 0.15;
    synth.iteration_s = 0.02;
    ASSERT_TRUE(entrain::synth(truth_path(), synth));
    if (!GetParam().numbered) forget_numbers(truth_path());
    DistortOptions wrong;
    wrong.offset_s = 0.01;
    wrong.drift_ppm = 50;
    wrong.wander_ppm = GetParam().wander_ppm;
    wrong.seed = GetParam().ranks;
    ASSERT_TRUE(entrain::distort(truth_path(), skewed_path(), wrong));
    truth_ = open(truth_path());
    skewed_ = open(skewed_path());
    ASSERT_EQ(truth_->list.members.size(), skewed_->list.members.size());
  }

  [[nodiscard]] std::filesystem::path truth_path() const { return folder_ / "truth"; }
  [[nodiscard]] std::filesystem::path skewed_path() const { return folder_ / "skewed"; }

  static std::unique_ptr<formats::Recording> open(const std::filesystem::path& path) {
    auto recording = formats::open_recording({path}, 1);
    EXPECT_TRUE(recording);
    return std::move(*recording);
  }

  TempFolder folder_;
  std::unique_ptr<formats::Recording> truth_, skewed_;
};

std::int64_t signed_of(std::uint64_t time) { return static_cast<std::int64_t>(time); }

std::int64_t median(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

/// Errors of the ends against those of the first member, as the time of none is known.
TEST_P(TrainingTruth, ends_come_within_5_us) {
  const auto report = entrain::correct(skewed_path(), folder_ / "fixed", {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->judgement->verdict, Verdict::clean);
  EXPECT_GT(report->before.violations, 1000);
  const auto fixed = open(folder_ / "fixed");
  ASSERT_EQ(fixed->list.members.size(), truth_->list.members.size());
  ASSERT_GT(truth_->list.instances.size(), 100);
  std::vector<std::int64_t> errors;
  for (const CollectiveInstance& one : truth_->list.instances) {
    const auto error = [&](std::size_t m) {
      return signed_of(fixed->list.members[m].time) - signed_of(truth_->list.members[m].time);
    };
    const std::size_t first = one.first + one.begins;
    for (std::size_t m = first + 1; m < first + one.ends; ++m) {
      errors.push_back(std::abs(error(m) - error(first)));
    }
  }
  EXPECT_LT(median(errors), 5 * k_us);
}

/// What one clock showed when another one showed something else.
struct Shown {
  std::int64_t from = 0, to = 0;
};

/// Between two moments a clock runs evenly.
std::int64_t shown_at(const std::vector<Shown>& clock, std::int64_t from) {
  auto next = std::lower_bound(clock.begin() + 1, clock.end() - 1, from,
                               [](const Shown& a, std::int64_t b) { return a.from < b; });
  const Shown a = *(next - 1), b = *next;
  const double slope = static_cast<double>(b.to - a.to) / static_cast<double>(b.from - a.from);
  return a.to + std::llround(slope * static_cast<double>(from - a.from));
}

/// The times of a clock in one recording and in the other, in order.
std::vector<Shown> shown_by(std::uint32_t clock, const formats::Recording& from,
                            const formats::Recording& to) {
  std::vector<Shown> shown;
  for (std::size_t m = 0; m < from.list.members.size(); ++m) {
    if (from.list.members[m].clock != clock) continue;
    shown.push_back({signed_of(from.list.members[m].time), signed_of(to.list.members[m].time)});
  }
  const auto add_ends = [&](const auto& clocks, const auto& before, const auto& after) {
    for (std::size_t e = 0; e < clocks.size(); ++e) {
      if (clocks[e] == clock) shown.push_back({signed_of(before[e]), signed_of(after[e])});
    }
  };
  add_ends(from.list.cause_clock, from.list.cause_time, to.list.cause_time);
  add_ends(from.list.effect_clock, from.list.effect_time, to.list.effect_time);
  const auto order = [](const Shown& a, const Shown& b) { return a.from < b.from; };
  std::sort(shown.begin(), shown.end(), order);
  // Slopes need some distance.
  std::vector<Shown> apart;
  for (const Shown& one : shown) {
    if (apart.empty() || one.from > apart.back().from + 10'000'000) apart.push_back(one);
  }
  return apart;
}

/// The proof limits when an event of a rank was, on the clock of the reference: the truth is there.
TEST_P(TrainingTruth, true_times_are_inside_the_bounds) {
  CheckOptions options;
  options.presync = Presync::none;
  options.bounds.wanted = true;
  options.bounds.rows = true;
  const auto report = entrain::check(skewed_path(), options);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(report->bounds);
  ASSERT_EQ(report->bounds->reason, "");
  const std::vector<Shown> reference =
      shown_by(static_cast<std::uint32_t>(report->bounds->reference), *truth_, *skewed_);
  std::vector<std::vector<Shown>> clocks;
  for (std::uint32_t c = 0; c < truth_->clocks.clocks.size(); ++c) {
    clocks.push_back(shown_by(c, *skewed_, *truth_));
  }
  std::vector<std::uint64_t> bounded(clocks.size());
  std::uint64_t outside = 0;
  for (const BoundsRow& row : report->bounds->rows) {
    if (!row.bounded) continue;
    ++bounded[row.location];
    const std::int64_t time = shown_at(clocks[row.location], signed_of(row.local_ticks));
    const std::int64_t there = shown_at(reference, time);
    outside += there < row.earliest_ticks - 4 || there > row.latest_ticks + 4 ? 1 : 0;
  }
  EXPECT_GT(*std::min_element(bounded.begin(), bounded.end()), 50);
  EXPECT_EQ(outside, 0U);
}

TEST(SyntheticTraining, files_of_two_runs_in_one_folder_are_not_paired) {
  const TempFolder folder;
  SynthOptions synth;
  synth.format = SynthFormat::chrome;
  synth.locations = 2;
  synth.events = 2000;
  ASSERT_TRUE(entrain::synth(folder / "one", synth));
  synth.seed = 2;
  ASSERT_TRUE(entrain::synth(folder / "other", synth));
  const auto mixed =
      formats::open_recording({folder / "one" / "rank0.json", folder / "other" / "rank1.json"}, 1);
  ASSERT_TRUE(mixed);
  EXPECT_TRUE((*mixed)->list.instances.empty());
}

INSTANTIATE_TEST_SUITE_P(Ranks, TrainingTruth,
                         ::testing::Values(Case{8, true}, Case{64, true}, Case{16, false},
                                           Case{8, true, 20}));

}  // namespace
}  // namespace entrain::engine
