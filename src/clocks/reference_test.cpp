// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/testing.hpp"

namespace entrain::clocks {
namespace {

using ::testing::HasSubstr;

Result<Reference> reference(std::string_view text, ClockKind kind = ClockKind::timer) {
  trace::testing::TraceBuilder b(3);
  b.trace().definitions.locations[1].id = 77;
  b.trace().definitions.locations[2].name = "Master thread";
  return find_reference(b.trace().definitions, text, kind);
}

TEST(FindReference, wall_clocks_come_to_a_consensus_by_themselves) {
  EXPECT_FALSE(reference("")->consensus);
  EXPECT_EQ(reference("")->location, k_none);
  EXPECT_TRUE(reference("", ClockKind::wall)->consensus);
  EXPECT_TRUE(reference("consensus")->consensus);
}

TEST(FindReference, a_clock_is_named_by_its_id_or_name) {
  EXPECT_EQ(reference("77", ClockKind::wall)->location, 1u);
  EXPECT_FALSE(reference("77", ClockKind::wall)->consensus);
  EXPECT_EQ(reference("Master thread")->location, 2u);
  const auto unknown = reference("78");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("--reference 78: no location"));
}

}  // namespace
}  // namespace entrain::clocks
