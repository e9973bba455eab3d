// SPDX-License-Identifier: BSD-3-Clause
#include "engine/mu.hpp"

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/properties.hpp"
#include "trace/testing.hpp"

namespace entrain::engine {
namespace {

using ::testing::HasSubstr;
using trace::testing::TraceBuilder;
using K = trace::EventKind;

MuTicks mu_of(const TraceBuilder& b, const MuOption& option) {
  return choose_mu(b.trace(), option).ticks;
}
std::string source_of(const TraceBuilder& b, const MuOption& option) {
  return text_of(choose_mu(b.trace(), option).source);
}

TEST(ChooseMu, automatic_is_what_an_earlier_correction_used) {
  TraceBuilder b(2);
  EXPECT_EQ(mu_of(b, {}), (MuTicks{0, 0, 0}));
  EXPECT_EQ(source_of(b, {}), "none");
  auto& properties = b.trace().definitions.properties;
  properties = {{"OTHER", "mu_ticks=9/9/9"},
                {trace::k_property_correction, "gamma=0.99 mu_ticks=1/20/300 presync=linear"}};
  EXPECT_EQ(mu_of(b, {}), (MuTicks{1, 20, 300}));
  EXPECT_EQ(source_of(b, {}), "archive");
}

TEST(ChooseMu, a_property_that_says_nothing_is_no_source) {
  TraceBuilder b(2);
  auto& properties = b.trace().definitions.properties;
  for (const char* value :
       {"", "mu_ticks=", "mu_ticks=1/2", "mu_ticks=1/2/", "mu_ticks=1,2,3", "mu_ticks=1/-2/3",
        "mu_ticks=0/0/0", "mu_ticks=1/2/99999999999999999999"}) {
    properties = {{trace::k_property_correction, value}};
    EXPECT_EQ(mu_of(b, {}), (MuTicks{0, 0, 0})) << value;
    EXPECT_EQ(source_of(b, {}), "none") << value;
  }
}

TEST(ChooseMu, options_count_more_than_the_archive) {
  TraceBuilder b(2);  // a million ticks per second
  b.trace().definitions.properties = {{trace::k_property_correction, "mu_ticks=9/9/9"}};
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
  trace::Workers workers(1);
  trace::LoadedTrace loaded;
  loaded.trace = b.trace();
  loaded.partition = trace::undivided(b.trace().definitions);
  const std::vector<ClockMap> maps(2);
  CheckOptions options;
  options.mu = {MuSource::round_trip, 0};
  const match::Graph graph = match::build_graph(b.trace(), {});
  const auto mu = choose_mu(workers, loaded, maps, options, &graph);
  ASSERT_TRUE(mu);
  EXPECT_EQ(mu->ticks, (MuTicks{0, 0, 15}));
  EXPECT_THAT(text_of(mu->source), HasSubstr("estimate"));
  EXPECT_EQ(choose_mu(workers, loaded, maps, options, nullptr)->ticks, MuTicks{});
}

}  // namespace
}  // namespace entrain::engine
