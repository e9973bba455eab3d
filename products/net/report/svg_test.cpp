// SPDX-License-Identifier: BSD-3-Clause
#include "net/report/svg.hpp"

#include <gmock/gmock.h>

namespace entrain::net {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Svg, draws_lines_and_marks) {
  const std::string svg = to_svg(
      {"title <1>", "x", "y & z", {{"line", {{0, 1}, {2, 3}}, false}, {"dot", {{1, 2}}, true}}});
  EXPECT_THAT(svg, StartsWith("<svg xmlns="));
  EXPECT_THAT(svg, EndsWith("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("title &lt;1&gt;"));
  EXPECT_THAT(svg, HasSubstr("y &amp; z"));
  EXPECT_THAT(svg, HasSubstr("<polyline points=\"80.0,"));
  EXPECT_THAT(svg, HasSubstr("r=\"5\""));
}

TEST(Svg, is_finite_whatever_the_data) {
  for (const std::vector<std::pair<double, double>>& points :
       {std::vector<std::pair<double, double>>{},
        {{0, 0}},
        {{5, 5}, {5, 5}},
        {{-1, -2}, {1e-9, 1e9}}})
    EXPECT_THAT(to_svg({"t", "x", "y", {{"s", points, false}}}),
                testing::AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf"))));
}

}  // namespace
}  // namespace entrain::net
