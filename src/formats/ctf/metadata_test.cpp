// SPDX-License-Identifier: BSD-3-Clause
#include "formats/ctf/metadata.hpp"

#include <gtest/gtest.h>

namespace entrain::ctf {
namespace {

ClockClass later(ClockClass clock) {
  clock.offset += 7;
  return clock;
}

TEST(metadata, only_numbers_of_clocks_change) {
  const std::string text = R"(/* CTF 1.8 */
/* clock { offset = 1; }; */
env { note = "clock { offset = 2; };"; }; // clock { offset = 3; };
clock {
  name = "monotonic"; uuid = "a;b}";
  freq = 1000; /* offset = 4; */ offset = 5ULL ;
};
struct { clock { offset = 6; } clock; } x;
clock { name = two; description = "it's } \" odd"; };)";
  std::string expected = text;
  const std::string five = "5ULL";
  expected.replace(expected.find(five), five.size(), "12");
  expected.replace(expected.rfind('}'), 0, "offset = 7; ");
  EXPECT_EQ(with_clocks(text, later), expected);
}

TEST(metadata, the_clock_is_read) {
  ClockClass seen;
  with_clocks("clock { name = \"c\"; freq = 2400; offset_s = -5; offset = 18446744073709551615; }",
              [&](const ClockClass& clock) { return seen = clock; });
  EXPECT_EQ(seen.name, "c");
  EXPECT_EQ(seen.frequency, 2400u);
  EXPECT_EQ(seen.offset_s, -5);
  EXPECT_EQ(seen.offset, ~std::uint64_t{0});
}

TEST(metadata, refuses_clocks_that_are_none) {
  for (const char* text :
       {"clock {", "clock { offset", "clock { offset = ", "clock { offset = ; }",
        "clock { offset = 1 2; }", "clock { offset = 0x10; }", "clock { offset = 010; }",
        "clock { freq = 0; }", "clock { offset = 18446744073709551616; }", "clock { offset = -1; }",
        "clock { = 4; }", "clock { offset = \"5"}) {
    EXPECT_FALSE(with_clocks(text, later)) << text;
  }
}

}  // namespace
}  // namespace entrain::ctf
