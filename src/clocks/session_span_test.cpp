// SPDX-License-Identifier: BSD-3-Clause

#include <vector>

#include <gtest/gtest.h>

#include "clocks/presync.hpp"
#include "trace/properties.hpp"
#include "trace/testing.hpp"

namespace entrain::clocks {
namespace {

using trace::testing::TraceBuilder;

std::optional<SessionSpan> span_of(const TraceBuilder& b, Presync presync = Presync::linear) {
  const auto maps = presynchronise(b.trace(), presync);
  return session_span(b.trace(), maps->maps);
}

TEST(SessionSpan, is_what_all_locations_have_measured) {
  TraceBuilder b(3);
  b.trace().locations[0].clock_offsets = {{100, 5, 0}, {500, 5, 0}, {900, 5, 0}};
  b.trace().locations[1].clock_offsets = {{150, 0, 0}, {800, 0, 0}};
  b.trace().locations[2].clock_offsets = {{7, 1'000, 0}};  // a lone record measures nothing
  const auto span = span_of(b);
  ASSERT_TRUE(span);
  EXPECT_EQ(span->begin, 150);
  EXPECT_EQ(span->end, 800);
}

TEST(SessionSpan, is_in_global_time) {
  TraceBuilder b(1);
  b.trace().locations[0].clock_offsets = {{100, 5, 0}, {900, 7, 0}};
  EXPECT_EQ(span_of(b)->begin, 105);
  EXPECT_EQ(span_of(b)->end, 907);
  EXPECT_EQ(span_of(b, Presync::none)->begin, 100);
}

TEST(SessionSpan, property_of_a_rewritten_archive_counts_more_than_its_records) {
  TraceBuilder b(1);
  b.trace().locations[0].clock_offsets = {{100, 5, 0}, {900, 7, 0}};
  b.trace().definitions.properties = {{trace::k_property_session_span, "-20 1000"}};
  EXPECT_EQ(span_of(b)->begin, -20);
  EXPECT_EQ(span_of(b)->end, 1'000);
  b.trace().definitions.properties[0].value = "nonsense";
  EXPECT_EQ(span_of(b)->begin, 105);
}

TEST(SessionSpan, is_unknown_without_records) { EXPECT_FALSE(span_of(TraceBuilder(2))); }

}  // namespace
}  // namespace entrain::clocks
