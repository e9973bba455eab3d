// SPDX-License-Identifier: BSD-3-Clause
#include "engine/load.hpp"

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/testing.hpp"

namespace entrain::engine {
namespace {

using ::testing::HasSubstr;
using trace::testing::TraceBuilder;
using K = trace::EventKind;

MuTicks mu_of(const TraceBuilder& b, const MuOption& option) {
  const std::vector<ClockMap> maps(b.trace().locations.size());
  return choose_mu(b.trace(), maps, option).ticks;
}
std::string source_of(const TraceBuilder& b, const MuOption& option) {
  const std::vector<ClockMap> maps(b.trace().locations.size());
  return choose_mu(b.trace(), maps, option).source;
}

TEST(ChooseMu, automatic_is_what_an_earlier_correction_used) {
  TraceBuilder b(2);
  EXPECT_EQ(mu_of(b, {}), (MuTicks{0, 0, 0}));
  EXPECT_EQ(source_of(b, {}), "none");
  auto& properties = b.trace().definitions.properties;
  properties = {{"OTHER", "mu_ticks=9/9/9"},
                {k_property_correction, "gamma=0.99 mu_ticks=1/20/300 presync=linear"}};
  EXPECT_EQ(mu_of(b, {}), (MuTicks{1, 20, 300}));
  EXPECT_EQ(source_of(b, {}), "archive");
}

TEST(ChooseMu, a_property_that_says_nothing_is_no_source) {
  TraceBuilder b(2);
  auto& properties = b.trace().definitions.properties;
  for (const char* value :
       {"", "mu_ticks=", "mu_ticks=1/2", "mu_ticks=1/2/", "mu_ticks=1,2,3", "mu_ticks=1/-2/3",
        "mu_ticks=0/0/0", "mu_ticks=1/2/99999999999999999999"}) {
    properties = {{k_property_correction, value}};
    EXPECT_EQ(mu_of(b, {}), (MuTicks{0, 0, 0})) << value;
    EXPECT_EQ(source_of(b, {}), "none") << value;
  }
}

TEST(ChooseMu, options_count_more_than_the_archive) {
  TraceBuilder b(2);  // a million ticks per second
  b.trace().definitions.properties = {{k_property_correction, "mu_ticks=9/9/9"}};
  EXPECT_EQ(mu_of(b, {MuSource::one_tick, 0}), (MuTicks{1, 1, 1}));
  EXPECT_EQ(mu_of(b, {MuSource::fixed, 5e-6}), (MuTicks{5, 5, 5}));
  EXPECT_EQ(mu_of(b, {MuSource::fixed, 0}), (MuTicks{0, 0, 0}));
  EXPECT_EQ(mu_of(b, {MuSource::fixed, 1.6e-6}), (MuTicks{2, 2, 2}));  // nearest tick
  EXPECT_EQ(source_of(b, {MuSource::fixed, 0}), "given");
}

TEST(ChooseMu, round_trip_is_a_quarter_of_the_smallest_one) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 0, 220, 1);
  b.message(K::recv, 1, 130, 0);
  b.message(K::send, 1, 190, 0);
  // (130 - 100) + (220 - 190) = 60, between different nodes.
  EXPECT_EQ(mu_of(b, {MuSource::round_trip, 0}), (MuTicks{0, 0, 15}));
  EXPECT_THAT(source_of(b, {MuSource::round_trip, 0}), HasSubstr("estimate"));
}

TEST(FindProperty, gives_the_value_or_nothing) {
  trace::Definitions definitions;
  definitions.properties = {{"A", "1"}, {"B", ""}};
  EXPECT_EQ(*find_property(definitions, "A"), "1");
  EXPECT_EQ(*find_property(definitions, "B"), "");
  EXPECT_EQ(find_property(definitions, "C"), nullptr);
}

/// Counts what it is told.
struct Counting : Progress {
  std::atomic<std::uint64_t> total = 0, done = 0;
  bool stop = false;
  void begin(std::string_view, std::uint64_t units, std::string_view) override { total = units; }
  void advance(std::uint64_t units) override { done += units; }
  [[nodiscard]] bool cancelled() const override { return stop; }
};

TEST(Load, reads_all_locations_whatever_the_number_of_threads) {
  const std::string path = ENTRAIN_EXAMPLES_DIR "/traces/allops-4";
  Counting progress;
  const auto one = load(path, 1, nullptr), four = load(path, 4, &progress);
  ASSERT_TRUE(one) << one.error().message;
  ASSERT_TRUE(four);
  EXPECT_EQ(one->trace.locations.size(), 4u);
  EXPECT_EQ(progress.total, one->archive->event_bytes(std::array<LocationIndex, 4>{0, 1, 2, 3}));
  EXPECT_EQ(progress.done, progress.total);
  for (std::size_t l = 0; l < 4; ++l) {
    EXPECT_GT(one->trace.locations[l].events.size(), 0u);
    EXPECT_EQ(one->trace.locations[l].event_count, four->trace.locations[l].event_count);
    EXPECT_EQ(one->trace.locations[l].last, four->trace.locations[l].last);
  }
}

TEST(Load, can_be_interrupted) {
  Counting progress;
  progress.stop = true;
  const auto refused = load(ENTRAIN_EXAMPLES_DIR "/traces/allops-4", 2, &progress);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::interrupted);
}

TEST(Load, a_missing_archive_is_named) {
  const auto refused = load("no/such/traces.otf2", 1, nullptr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::input);
  EXPECT_THAT(refused.error().message, HasSubstr("no/such/traces.otf2"));
}

}  // namespace
}  // namespace entrain::engine
