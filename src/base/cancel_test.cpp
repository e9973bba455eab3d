// SPDX-License-Identifier: BSD-3-Clause
#include "base/cancel.hpp"

#include <array>

#include <gtest/gtest.h>

namespace entrain {
namespace {

class Asked final : public Progress {
 public:
  explicit Asked(bool asked) : asked_(asked) {}
  void begin(std::string_view, std::uint64_t, std::string_view) override {}
  void advance(std::uint64_t) override {}
  [[nodiscard]] bool cancelled() const override { return asked_; }

 private:
  bool asked_;
};

TEST(Cancel, nobody_asks_without_a_progress) {
  const Cancel cancel(nullptr);
  EXPECT_FALSE(cancel.asked());
  EXPECT_TRUE(cancel.check());
}

TEST(Cancel, is_an_error_once_the_user_asked) {
  const Asked yes(true), no(false);
  EXPECT_TRUE(Cancel(&no).check());
  const auto result = Cancel(&yes).check();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::interrupted);
}

TEST(Cancel, a_team_stops_together) {
  const Asked yes(true), no(false);
  std::array<bool, 3> stopped{};
  const auto result = run_team(3, [&](Team& team) -> Result<void> {
    const Cancel cancel(team.rank() == 1 ? &yes : &no);
    const Result<void> agreed = cancel.agree(team);
    stopped[team.rank()] = !agreed;
    return agreed;
  });
  EXPECT_FALSE(result);
  EXPECT_EQ(stopped, (std::array<bool, 3>{true, true, true}));
}

}  // namespace
}  // namespace entrain
