// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/ids.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace entrain::spans {
namespace {

using testing::ElementsAre;

TEST(SpanIds, OfAnotherTableGetTheNumbersThatTheyWouldGetHere) {
  SpanIds ids, next;
  ids.number("a1", "5");
  ids.number("trace x", "span y");
  for (const char* const trace : {"trace z", "trace x", "00A1"}) {
    next.number(trace, "span y");
    next.number(trace, "05");
  }
  EXPECT_THAT(ids.add(next), ElementsAre(2, 3, 1, 4, 5, 0));
  EXPECT_EQ(ids.number("trace z", "span y"), 2);
  EXPECT_EQ(ids.trace_of(4), "trace x");
  EXPECT_EQ(ids.id_of(4), "5");
  EXPECT_EQ(ids.hash_of(2), next.hash_of(0));
}

}  // namespace
}  // namespace entrain::spans
