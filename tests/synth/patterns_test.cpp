// SPDX-License-Identifier: BSD-3-Clause
//
// Every pattern of `synth` against the checker, the OTF2 library and otf2-print.
#include <cstdint>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include <entrain/entrain.hpp>

#include "support/files.hpp"
#include "support/oracle.hpp"
#include "support/process.hpp"

namespace entrain::test {
namespace {

constexpr SynthPattern k_patterns[] = {SynthPattern::ring,      SynthPattern::stencil2d,
                                       SynthPattern::allreduce, SynthPattern::master_worker,
                                       SynthPattern::mixed,     SynthPattern::pipeline};

SynthOptions options_of(SynthPattern pattern, std::uint64_t locations, std::uint64_t events,
                        std::uint64_t seed) {
  SynthOptions options;
  options.pattern = pattern;
  options.locations = locations;
  options.events = events;
  options.seed = seed;
  options.threads = 2;
  return options;
}

/// Neither violations nor leftovers, also with what MPI does not promise.
void expect_clean(const std::string& archive, std::uint64_t events) {
  CheckOptions options;
  options.init_finalize = true;
  options.threads = 2;
  const auto report = check(archive, options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->violations, 0u);
  EXPECT_EQ(report->events, events);
  for (const auto& [name, count] : report->unmatched) EXPECT_EQ(count, 0u) << name;
  for (const auto& [name, count] : report->skipped) EXPECT_EQ(count, 0u) << name;
}

/// The report says what the archive holds.
void expect_told_truly(const SynthReport& report) {
  const auto info = inspect(report.archive, 2);
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->events, report.events);
  EXPECT_EQ(info->communication_events, report.communication_events);
  EXPECT_EQ(info->event_bytes, report.event_bytes);
  EXPECT_EQ(info->locations, report.locations);
  EXPECT_EQ(info->processes, report.locations);
  EXPECT_EQ(info->nodes, (report.locations + 7) / 8);
  EXPECT_EQ(info->resolution_hz, 1'000'000'000u);
  EXPECT_EQ(info->global_offset_ticks, info->first_ticks);
  EXPECT_EQ(info->global_offset_ticks + info->length_ticks, info->last_ticks);
  EXPECT_EQ(info->clock_offset_records, 0u);
  std::uint64_t sends = 0;
  for (const auto& [name, count] : info->communication) {
    if (name == "MpiSend" || name == "MpiIsend") sends += count;
  }
  EXPECT_EQ(sends, report.messages);
}

/// The library reads as many records as there are.
void expect_read_by_the_library(const SynthReport& report) {
  std::uint64_t records = 0;
  for (const LocationTimes& location : library_times(report.archive)) {
    records += location.times.size();
  }
  EXPECT_EQ(records, report.events);
  const ChildOutcome printed =
      run_program({"otf2-print", "-Werror", report.archive}, {.timeout_s = 100});
  EXPECT_EQ(printed.exit_code, 0) << printed.summary();
  EXPECT_EQ(printed.err, "");
}

class Pattern
    : public testing::TestWithParam<std::tuple<SynthPattern, std::uint64_t, std::uint64_t>> {};

TEST_P(Pattern, is_a_valid_archive_without_violations) {
  const auto [pattern, locations, seed] = GetParam();
  const TempFolder scratch;
  const std::uint64_t events = locations < 512 ? 20'000 : 60'000;
  const auto report = synth(scratch / "trace", options_of(pattern, locations, events, seed));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_NEAR(static_cast<double>(report->events), static_cast<double>(events), 1);
  expect_clean(report->archive, report->events);
  expect_told_truly(*report);
  expect_read_by_the_library(*report);
}

INSTANTIATE_TEST_SUITE_P(Small, Pattern,
                         testing::Combine(testing::ValuesIn(k_patterns),
                                          testing::Values(1, 2, 3, 8, 17, 64),
                                          testing::Values(1, 42)));
INSTANTIATE_TEST_SUITE_P(Large, Pattern,
                         testing::Combine(testing::ValuesIn(k_patterns), testing::Values(512),
                                          testing::Values(1)));

TEST(Synth, gives_the_same_archive_with_any_number_of_threads) {
  for (const SynthPattern pattern : k_patterns) {
    const TempFolder scratch;
    SynthOptions options = options_of(pattern, 9, 30'000, 3);
    options.threads = 1;
    ASSERT_TRUE(synth(scratch / "one", options));
    for (const unsigned threads : {2u, 5u, 64u}) {
      options.threads = threads;
      options.force = true;
      ASSERT_TRUE(synth(scratch / "more", options));
      EXPECT_EQ(digest_tree(scratch / "one"), digest_tree(scratch / "more")) << threads;
    }
    options.seed = 4;
    ASSERT_TRUE(synth(scratch / "other", options));
    EXPECT_NE(digest_tree(scratch / "one"), digest_tree(scratch / "other"));
  }
}

TEST(Synth, fills_several_chunks) {
  const TempFolder scratch;
  SynthOptions options = options_of(SynthPattern::mixed, 2, 500'000, 1);
  options.communication_share = 1;
  const auto report = synth(scratch / "trace", options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GT(report->event_bytes, 6u << 20);
  expect_clean(report->archive, report->events);
  expect_read_by_the_library(*report);
}

TEST(Synth, can_be_distorted_and_corrected) {
  const TempFolder scratch;
  const auto report = synth(scratch / "truth", options_of(SynthPattern::stencil2d, 12, 100'000, 1));
  ASSERT_TRUE(report) << report.error().message;
  DistortOptions wrong;
  wrong.wander_ppm = 500;
  ASSERT_TRUE(distort(report->archive, scratch / "wrong", wrong));
  const auto corrected = correct(scratch / "wrong", scratch / "corrected", {});
  ASSERT_TRUE(corrected) << corrected.error().message;
  EXPECT_GT(corrected->before.violations, 0u);
  EXPECT_EQ(corrected->after.violations, 0u);
}

}  // namespace
}  // namespace entrain::test
