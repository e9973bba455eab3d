// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/ids.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace entrain::spans {
namespace {

using testing::ElementsAre;

std::uint32_t number_in(SpanIds& ids, std::string_view trace, std::string_view id) {
  return ids.number(id_in(trace, k_trace_digits), id_in(id, k_span_digits));
}

TEST(SpanIds, OfAnotherTableGetTheNumbersThatTheyWouldGetHere) {
  SpanIds ids, next;
  number_in(ids, "a1", "5");
  number_in(ids, "trace x", "span y");
  for (const char* const trace : {"trace z", "trace x", "00A1"}) {
    number_in(next, trace, "span y");
    number_in(next, trace, "05");
  }
  EXPECT_THAT(ids.add(next), ElementsAre(2, 3, 1, 4, 5, 0));
  EXPECT_EQ(number_in(ids, "trace z", "span y"), 2);
  EXPECT_EQ(ids.trace_of(4), "trace x");
  EXPECT_EQ(ids.id_of(4), "5");
  EXPECT_EQ(ids.hash_of(2), next.hash_of(0));
}

TEST(SpanIds, of_every_length_and_notation_are_compared_as_numbers) {
  const std::string low = "00f067aa0ba902b7", high = "4bf92f3577b34da6";
  SpanIds ids;
  const std::uint32_t first = number_in(ids, high + low, low);
  EXPECT_EQ(number_in(ids, "4BF92F3577B34DA600F067AA0BA902B7", "f067AA0ba902b7"), first);
  EXPECT_EQ(number_in(ids, "0000" + high + low, "0000" + low), first);
  const std::string bytes("\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\x00\xf0\x67\xaa\x0b\xa9\x02\xb7", 16);
  EXPECT_EQ(ids.number(id_in_bytes(bytes), id_in_bytes(bytes.substr(8))), first);
  // One more digit, or another letter, is another id.
  for (const std::string& id : {"1" + low, low.substr(1) + "g", low.substr(0, 15) + "=", high}) {
    EXPECT_NE(number_in(ids, high + low, id), first) << id;
  }
  EXPECT_TRUE(id_in("0000000000000000", k_span_digits).is_zero());
  EXPECT_FALSE(id_in("000000000000000g", k_span_digits).is_zero());
}

TEST(SpanIds, whose_texts_stand_twice_are_refused) {
  for (const char* const second : {"span y", "span x"}) {
    parts::FieldWriter written;
    std::vector<std::string> texts{"span x", second};
    parts::list(written, texts, [](parts::FieldWriter& to, std::string& text) { to(text); });
    std::vector<char> none;
    written.size(none);
    const std::string text = written.take();
    parts::FieldReader fields(text);
    SpanIds ids;
    ids.visit(fields);
    EXPECT_EQ(fields.fine(), second != texts.front());
  }
}

}  // namespace
}  // namespace entrain::spans
