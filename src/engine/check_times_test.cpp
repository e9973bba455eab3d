// SPDX-License-Identifier: BSD-3-Clause
#include "engine/check_times.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "trace/testing.hpp"

namespace entrain::engine {
namespace {

using trace::EventKind;
using trace::testing::TraceBuilder;

/// The second process receives at 500 the message that the first one sent at 1000.
trace::LoadedTrace backward_message() {
  TraceBuilder b(2);
  b.message(EventKind::send, 0, 1000, 1);
  b.message(EventKind::recv, 1, 500, 0);
  return trace::testing::loaded_of(b);
}

/// A timeline of locations with clocks of their own.
Timeline timeline_of(std::size_t locations) {
  Timeline timeline;
  timeline.mu.source.origin = MuOrigin::given;
  timeline.domains = trace::separate_domains(locations);
  return timeline;
}

CheckReport checked(const trace::LoadedTrace& loaded, std::span<const ClockMap> maps) {
  trace::Workers workers(2);
  const CheckOptions options;
  const Timeline timeline = timeline_of(maps.size());
  const auto report =
      check_times({.workers = workers, .options = options, .timeline = timeline}, loaded, maps);
  EXPECT_TRUE(report);
  return report.value_or(CheckReport{});
}

TEST(CheckTimes, counts_violations_under_the_maps) {
  const trace::LoadedTrace loaded = backward_message();
  std::vector<ClockMap> maps(2);
  const CheckReport before = checked(loaded, maps);
  EXPECT_EQ(before.violations, 1u);
  EXPECT_EQ(before.mu_source.origin, MuOrigin::given);
  maps[1] = maps[1].shifted(600);
  EXPECT_EQ(checked(loaded, maps).violations, 0u);
}

TEST(CheckTimes, a_trace_without_events_has_no_edges) {
  const trace::LoadedTrace loaded = trace::testing::loaded_of(TraceBuilder(2));
  const CheckReport report = checked(loaded, std::vector<ClockMap>(2));
  EXPECT_EQ(report.violations, 0u);
  EXPECT_EQ(report.events, 0u);
  const trace::LoadedTrace nothing = trace::testing::loaded_of(TraceBuilder(0));
  EXPECT_EQ(checked(nothing, {}).locations, 0u);
}

/// A trace whose files have become unreadable since they were scanned.
class Unreadable final : public trace::EventReader {
 public:
  [[nodiscard]] const std::string& path() const override { return path_; }
  [[nodiscard]] const trace::Definitions& definitions() const override { return definitions_; }
  [[nodiscard]] std::uint64_t event_bytes(std::span<const LocationIndex>) const override {
    return 0;
  }
  [[nodiscard]] Result<std::vector<trace::LocationSkeleton>> scan_all(
      std::span<const LocationIndex>, unsigned, Progress*) const override {
    return fail(ErrorKind::input, "unreadable");
  }
  [[nodiscard]] Result<std::string> region_at(LocationIndex, std::uint64_t) const override {
    return fail(ErrorKind::input, "unreadable");
  }

 private:
  std::string path_ = "x";
  trace::Definitions definitions_;
};

TEST(CheckTimes, regions_that_cannot_be_looked_up_are_an_error) {
  trace::LoadedTrace loaded = backward_message();
  loaded.reader = std::make_unique<Unreadable>();
  trace::Workers workers(2);
  const CheckOptions options;
  const Timeline timeline = timeline_of(2);
  const auto refused = check_times({.workers = workers, .options = options, .timeline = timeline},
                                   loaded, std::vector<ClockMap>(2));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "unreadable");
}

TEST(CheckTimes, can_be_interrupted) {
  struct Stop final : Progress {
    void begin(std::string_view, std::uint64_t, std::string_view) override {}
    void advance(std::uint64_t) override {}
    [[nodiscard]] bool cancelled() const override { return true; }
  } stop;
  const trace::LoadedTrace loaded = backward_message();
  trace::Workers workers(1);
  const CheckOptions options;
  const Timeline timeline = timeline_of(2);
  const auto refused =
      check_times({.workers = workers, .options = options, .timeline = timeline, .progress = &stop},
                  loaded, std::vector<ClockMap>(2));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::interrupted);
}

}  // namespace
}  // namespace entrain::engine
