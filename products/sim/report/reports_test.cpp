// SPDX-License-Identifier: BSD-3-Clause
#include "sim/report/reports.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/report/samples_testing.hpp"

namespace entrain::report {
namespace {

TEST(SimReports, distort_names_its_schema) {
  EXPECT_EQ(to_json(samples::distort())["schema"], "entrain.distort/1");
  EXPECT_EQ(to_json(samples::distort())["clocks"], 8);
}

TEST(SimReports, of_drop_tells_what_each_location_lost) {
  const Json json = to_json(samples::drop());
  EXPECT_EQ(json["schema"], "entrain.drop/1");
  EXPECT_EQ(json["kinds"]["MpiSend"]["lost"], 12);
  EXPECT_EQ(json["others"]["lost"], 40'000);
  ASSERT_EQ(json["locations"].size(), 12u);
  EXPECT_EQ(json["locations"][2]["window"]["begin_ticks"], 1'700'000'000'123'456'789);
  EXPECT_TRUE(json["locations"][2]["end_ticks"].is_null());
  EXPECT_TRUE(json["locations"][11]["window"].is_null());
  EXPECT_EQ(json["locations"][11]["end_ticks"], 1'700'000'001'000'000'000);
}

}  // namespace
}  // namespace entrain::report
