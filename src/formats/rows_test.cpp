// SPDX-License-Identifier: BSD-3-Clause
#include "formats/rows.hpp"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <fmt/format.h>

#include "base/try.hpp"
#include "formats/given_trace.hpp"

namespace entrain::formats {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A recording of which only the work is asked for.
class Worked : public Recording {
 public:
  explicit Worked(std::vector<Work> work, std::size_t hosts = 1) : work_(std::move(work)) {
    clocks.resolution_hz = 1'000'000'000;
    for (std::size_t i = 0; i < hosts; ++i) {
      clocks.clocks.push_back({.name = fmt::format("h{}", i), .events = {{0, 100}}});
    }
  }
  [[nodiscard]] Result<void> write(const std::filesystem::path&,
                                   std::span<const ClockMap>) const override {
    return {};
  }
  [[nodiscard]] Result<std::unique_ptr<Recording>> read_back(
      const std::filesystem::path&, std::span<const ClockMap>) const override {
    return std::unique_ptr<Recording>();
  }
  [[nodiscard]] Result<EventTimes> event_times() const override { return EventTimes(); }
  [[nodiscard]] Result<std::vector<std::uint64_t>> event_hashes(std::size_t) const override {
    return std::vector<std::uint64_t>();
  }
  [[nodiscard]] Result<void> for_each_work(
      const std::function<Result<void>(const Work&)>& see) const override {
    for (const Work& one : work_) TRY(see(one));
    return {};
  }

  [[nodiscard]] std::shared_ptr<const Rows> shown(const WorkFilter& is_wanted = {}) const {
    trace::Trace trace;
    trace.definitions = formats::definitions_of(clocks);
    trace.locations.resize(clocks.clocks.size());
    return *Rows::read(*this, trace, is_wanted);
  }

 private:
  std::vector<Work> work_;
};

/// The begins ("+") and ends of calls at a location.
std::vector<std::string> calls(const Rows& work, LocationIndex location) {
  std::vector<std::string> all;
  EXPECT_TRUE(work.visit_regions(location, nullptr, [&](const trace::RegionRecord& record) {
    all.push_back(fmt::format("{}{}{}", record.time, record.enter ? "+" : "-",
                              work.definitions().regions[record.region].name));
  }));
  return all;
}

TEST(Rows, the_example_of_the_header) {
  const auto work = Worked({{0, 4, 12, "c", ""}, {0, 0, 10, "a", ""}, {0, 2, 5, "b", ""}}).shown();
  ASSERT_EQ(work->trace().locations.size(), 3U);
  EXPECT_THAT(calls(*work, 0), IsEmpty());
  EXPECT_THAT(calls(*work, 1), ElementsAre("0+a", "2+b", "5-b", "10-a"));
  EXPECT_THAT(calls(*work, 2), ElementsAre("4+c", "12-c"));
  EXPECT_THAT(work->clock_of(), ElementsAre(0, 0));
  EXPECT_EQ(work->definitions().locations[1].name, "spans");
  EXPECT_EQ(work->definitions().locations[2].name, "spans (2)");
  EXPECT_EQ(work->trace().locations[2].last, 12U);
}

TEST(Rows, calls_without_a_length_and_calls_that_touch_share_a_row) {
  const auto work =
      Worked({{0, 5, 9, "b", "7"}, {0, 5, 5, "n", "7"}, {0, 0, 5, "a", "7"}, {0, 9, 9, "m", "7"}})
          .shown();
  ASSERT_EQ(work->trace().locations.size(), 2U);
  EXPECT_THAT(calls(*work, 1), ElementsAre("0+a", "5-a", "5+b", "5+n", "5-n", "9-b", "9+m", "9-m"));
  EXPECT_EQ(work->definitions().locations[1].name, "thread 7");
}

TEST(Rows, threads_and_hosts_have_rows_of_their_own) {
  const auto work =
      Worked({{1, 0, 9, "a", "x"}, {0, 0, 9, "a", "y"}, {1, 1, 3, "b", "y"}}, 2).shown();
  ASSERT_EQ(work->trace().locations.size(), 5U);
  EXPECT_THAT(work->clock_of(), ElementsAre(0, 1, 1));
  EXPECT_EQ(work->definitions().process_of[4], work->definitions().process_of[1]);
  const std::vector<LocationIndex> rows{2, 3, 4};
  EXPECT_GT(work->event_bytes(rows), 0U);
}

TEST(Rows, more_than_64_beside_each_other_are_counted) {
  std::vector<Work> many;
  for (std::uint64_t k = 0; k < 70; ++k) many.push_back({0, k, 100 + k, "a", ""});
  const auto work = Worked(many).shown();
  EXPECT_EQ(work->trace().locations.size(), 65U);
  EXPECT_EQ(work->left_out(), 6U);
}

TEST(Rows, leave_out_what_is_not_wanted) {
  const Worked recording({{0, 0, 10, "early", ""}, {0, 20, 30, "late", ""}});
  const auto is_late = [](std::uint32_t, std::uint64_t begin, std::uint64_t) { return begin > 10; };
  EXPECT_THAT(calls(*recording.shown(is_late), 1), ElementsAre("20+late", "30-late"));
}

TEST(Rows, tell_the_calls_around_the_end_of_one) {
  const Worked recording(
      {{0, 0, 10, "a", ""}, {0, 2, 5, "b", ""}, {0, 4, 12, "c", ""}, {1, 5, 9, "other clock", ""}},
      2);
  const auto rows = recording.shown();
  const auto times = [&](std::uint64_t time, std::size_t most) {
    std::vector<std::uint64_t> result;
    const auto around = rows->regions_around(0, time, most).value();
    for (const trace::RegionRecord& r : around) result.push_back(r.time);
    return result;
  };
  EXPECT_THAT(times(5, 40), ElementsAre(0, 2, 5, 10));
  EXPECT_THAT(times(5, 1), ElementsAre(2, 5));
  EXPECT_THAT(times(12, 40), ElementsAre(4, 12));
  EXPECT_THAT(times(3, 40), IsEmpty());
}

}  // namespace
}  // namespace entrain::formats
