// SPDX-License-Identifier: BSD-3-Clause
// Small hand-made archives through the whole correction: what recorded traces do not show.
#include <gtest/gtest.h>

#include "support/archive_builder.hpp"
#include "support/correction.hpp"
#include "support/files.hpp"
#include "support/oracle.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t k_metric_location = 7'000'000'000;  // ids are sparse 64-bit numbers

class HandMade : public testing::Test {
 protected:
  /// Two processes; the receive is stamped 5,000 ticks before its send, at `begin` + 20,000.
  void begin_ring(ArchiveBuilder& archive, std::uint64_t begin) {
    const auto node = archive.node("n0");
    first_ = archive.process("MPI Rank 0", node);
    second_ = archive.process("MPI Rank 1", node);
    archive.location(0, first_);
    archive.location(1, second_);
    region_ = archive.region("work", Role::function, Paradigm::user);
    world_ = archive.comm("MPI_COMM_WORLD", {0, 1});
    archive.at(0).enter(begin, region_).send(begin + 20'000, 1, world_, 1);
    archive.at(0).leave(begin + 90'000, region_);
    archive.at(1).enter(begin, region_).recv(begin + 15'000, 0, world_, 1);
    archive.at(1).leave(begin + 90'000, region_);
  }
  void write_ring() {
    ArchiveBuilder archive(scratch_ / "in");
    begin_ring(archive, 1'000'000);
    archive.finish();
  }
  [[nodiscard]] fs::path anchor() const { return scratch_ / "in/traces.otf2"; }

  TempFolder scratch_;
  std::uint32_t first_ = 0, second_ = 0, region_ = 0, world_ = 0;
};

TEST_F(HandMade, location_without_messages_follows_its_process) {
  {
    ArchiveBuilder archive(scratch_ / "in");
    begin_ring(archive, 1'000'000);
    archive.location(k_metric_location, second_, "metric", 3);
    for (std::uint64_t t = 1'000'000; t <= 1'090'000; t += 5'000) {
      archive.at(k_metric_location).enter(t, region_).leave(t, region_);
    }
    archive.finish();
  }
  const CorrectReport report = expect_corrected(anchor(), scratch_.path());
  EXPECT_EQ(report.before.violations, 1u);
  const auto before = library_times(anchor()), after = library_times(report.output);
  ASSERT_EQ(after.size(), 3u);
  for (std::size_t i = 0; i < before[2].times.size(); ++i) {
    const std::uint64_t stamp = before[2].times[i];
    // The receive moved by 5,000 ticks, and everything of its process near it as well.
    if (stamp == 1'015'000) {
      EXPECT_EQ(after[2].times[i], stamp + 5'000);
    }
    // Times of both locations that shared a stamp before share one after.
    for (std::size_t k = 0; k < before[1].times.size(); ++k) {
      if (before[1].times[k] == stamp) {
        EXPECT_EQ(after[1].times[k], after[2].times[i]) << "stamp " << stamp;
      }
    }
  }
}

TEST_F(HandMade, nanoseconds_since_1970_are_exact) {
  {
    ArchiveBuilder archive(scratch_ / "in");
    begin_ring(archive, 1'700'000'000'000'000'001);
    archive.finish();
  }
  CorrectOptions options;
  options.check.reference = "0";  // which of two wall clocks is right nobody knows
  const CorrectReport report = expect_corrected(anchor(), scratch_.path(), options);
  EXPECT_EQ(report.before.violations, 1u);
  const auto after = library_times(report.output);
  EXPECT_EQ(after[1].times[1], 1'700'000'000'000'020'001u);
  EXPECT_EQ(after[0].times, library_times(anchor())[0].times);
}

TEST_F(HandMade, negative_times_move_all_locations_alike) {
  {
    ArchiveBuilder archive(scratch_ / "in");
    begin_ring(archive, 1'000);
    archive.clock_offset(1, 0, -3'000);
    archive.clock_offset(1, 100'000, -3'000);
    archive.finish();
  }
  CorrectOptions options;
  const auto report = correct(anchor(), scratch_ / "out", options);
  ASSERT_TRUE(report) << report.error().message;
  const auto after = library_times(report->output);
  // The first event of location 1 would be at -2,000: all move by 2,000.
  EXPECT_EQ(after[0].times, (std::vector<std::uint64_t>{3'000, 23'000, 93'000}));
  EXPECT_EQ(after[1].times[1], 23'001u);  // a tick after its send
  EXPECT_EQ(report->after.violations, 0u);
  EXPECT_EQ(report->after.equal, 0u);
}

TEST_F(HandMade, a_receive_comes_a_tick_after_its_send_unless_mu_is_given) {
  {
    ArchiveBuilder archive(scratch_ / "in");
    begin_ring(archive, 1'000);
    archive.clock_offset(1, 0, -500);
    archive.clock_offset(1, 100'000, -500);
    archive.finish();
  }
  CorrectOptions options;
  options.check.presync = Presync::linear;
  EXPECT_EQ(correct(anchor(), scratch_ / "apart", options)->after.equal, 0u);
  options.ramp = RampShape::paper;
  EXPECT_EQ(correct(anchor(), scratch_ / "apart_as_in_the_paper", options)->after.equal, 0u);
  options.ramp = RampShape::taut;
  options.check.mu = {MuSource::fixed, 0};
  const auto report = correct(anchor(), scratch_ / "together", options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->before.equal, 0u);
  EXPECT_EQ(report->after.equal, 1u);
  EXPECT_EQ(report->after.violations, 0u);
}

TEST_F(HandMade, a_lone_clock_offset_is_a_constant_one) {
  {
    ArchiveBuilder archive(scratch_ / "in");
    begin_ring(archive, 1'000'000);
    archive.clock_offset(1, 1'000'000, 100'000);
    archive.finish();
  }
  const auto report = check(anchor(), {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->violations, 0u);
  EXPECT_EQ(report->presync, PresyncMethod::linear);
  const CorrectReport corrected = expect_corrected(anchor(), scratch_.path());
  const auto after = library_times(corrected.output);
  EXPECT_EQ(after[0].times[1], 1'020'000u);
  EXPECT_EQ(after[1].times[1], 1'115'000u);
}

TEST_F(HandMade, traces_without_messages_or_events_stay_as_they_are) {
  {
    ArchiveBuilder archive(scratch_ / "in");
    const auto process = archive.process("only", archive.node("n0"));
    archive.location(3, process);
    archive.location(4, process);
    const auto region = archive.region("work", Role::function, Paradigm::user);
    archive.at(3).enter(10, region).leave(10, region);
    archive.finish();
  }
  expect_untouched(anchor(), scratch_.path());
}

TEST_F(HandMade, clock_offsets_that_run_backward_are_refused_by_name) {
  {
    ArchiveBuilder archive(scratch_ / "in");
    begin_ring(archive, 1'000'000);
    archive.clock_offset(1, 1'000'000, 500'000);
    archive.clock_offset(1, 1'000'100, 0);
    archive.finish();
  }
  const auto report = check(anchor(), {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::input);
  EXPECT_NE(report.error().message.find("location 1 of"), std::string::npos);
  CheckOptions as_stored;
  as_stored.presync = Presync::none;
  EXPECT_TRUE(check(anchor(), as_stored));
}

// No message joins the two processes of the node, and nothing was measured: only the way from one
// to the other over a third shows that their clocks are not one.
TEST_F(HandMade, clocks_that_contradict_each_other_by_way_of_others_are_told_apart) {
  {
    ArchiveBuilder archive(scratch_ / "in");
    const auto near = archive.node("n0"), far = archive.node("n1");
    archive.location(0, archive.process("MPI Rank 0", near));
    archive.location(1, archive.process("MPI Rank 1", near));
    archive.location(2, archive.process("MPI Rank 2", far));
    const auto region = archive.region("work", Role::function, Paradigm::user);
    const auto world = archive.comm("MPI_COMM_WORLD", {0, 1, 2});
    for (const std::uint64_t l : {0, 1, 2}) {  // the timer is a fine one
      archive.at(l).enter(500'000, region).leave(500'010, region);
    }
    archive.at(0).send(1'000'000, 2, world, 1);
    archive.at(2).recv(1'100'000, 0, world, 1).send(1'200'000, 1, world, 2);
    archive.at(1).recv(900'000, 2, world, 2);
    archive.finish();
  }
  CorrectOptions options;
  options.check.presync = Presync::none;
  for (const WriteMode mode : {WriteMode::rewrite, WriteMode::overlay}) {
    options.mode = mode;
    options.force = true;
    const auto report = correct(anchor(), scratch_ / "out", options);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->before.violations, 1u);
    EXPECT_EQ(report->after.violations, 0u);
    EXPECT_EQ(report->timeline.clocks, 3u);
    EXPECT_EQ(report->timeline.clock_domain, ClockDomain::automatic);
    ASSERT_EQ(report->timeline.notes.size(), 1u);
    EXPECT_NE(report->timeline.notes[0].find("through other clocks"), std::string::npos);
    EXPECT_TRUE(report->cycles.empty());
  }
  options.check.clock_domain = ClockDomain::node;
  const auto refused = correct(anchor(), scratch_ / "refused", options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::input);
  EXPECT_NE(refused.error().message.find("try --clock-domain auto"), std::string::npos);
  EXPECT_FALSE(fs::exists(scratch_ / "refused"));
}

TEST_F(HandMade, mu_separates_ties_and_is_found_again_in_the_archive) {
  write_ring();
  CorrectOptions options;
  options.check.mu = {MuSource::fixed, 2e-6};
  const auto report = correct(anchor(), scratch_ / "out", options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(library_times(report->output)[1].times[1], 1'022'000u);
  const auto again = check(scratch_ / "out", {});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->mu_ticks, (MuTicks{2000, 2000, 2000}));
  EXPECT_EQ(again->mu_source.origin, MuOrigin::archive);
  EXPECT_EQ(again->below_latency, 0u);
}

TEST_F(HandMade, links_of_an_overlay_are_of_the_kind_asked_for) {
  write_ring();
  CorrectOptions options;
  options.mode = WriteMode::overlay;
  options.link = LinkKind::symbolic;
  fs::create_directory(scratch_ / "deep");
  ASSERT_TRUE(correct(anchor(), scratch_ / "deep/symbolic", options));
  const fs::path link = scratch_ / "deep/symbolic/traces/1.evt";
  ASSERT_TRUE(fs::is_symlink(link));
  EXPECT_TRUE(fs::read_symlink(link).is_relative());
  EXPECT_TRUE(fs::equivalent(link, scratch_ / "in/traces/1.evt"));
  options.link = LinkKind::hard;
  ASSERT_TRUE(correct(anchor(), scratch_ / "hard", options));
  EXPECT_EQ(fs::hard_link_count(scratch_ / "hard/traces/1.evt"), 2u);
  // An overlay of an overlay refers to the original files, not to the first overlay.
  fs::create_directory(scratch_ / "far");
  options.link = LinkKind::symbolic;
  ASSERT_TRUE(correct(scratch_ / "deep/symbolic", scratch_ / "far/second", options));
  fs::remove_all(scratch_ / "deep");
  EXPECT_EQ(library_times(scratch_ / "far/second/traces.otf2"),
            library_times(scratch_ / "hard/traces.otf2"));
}

TEST_F(HandMade, force_never_replaces_files_behind_the_links_of_the_input) {
  write_ring();
  CorrectOptions options;
  options.mode = WriteMode::overlay;
  options.link = LinkKind::symbolic;
  ASSERT_TRUE(correct(anchor(), scratch_ / "overlay", options));
  const auto before = digest_tree(scratch_ / "in");
  options.force = true;
  for (const WriteMode mode : {WriteMode::rewrite, WriteMode::overlay}) {
    options.mode = mode;
    const auto report = correct(scratch_ / "overlay", scratch_ / "in", options);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind, ErrorKind::usage);
  }
  EXPECT_EQ(digest_tree(scratch_ / "in"), before);
}

TEST_F(HandMade, an_overlay_whose_original_is_gone_is_refused) {
  write_ring();
  CorrectOptions options;
  options.mode = WriteMode::overlay;
  options.link = LinkKind::symbolic;
  ASSERT_TRUE(correct(anchor(), scratch_ / "overlay", options));
  fs::rename(scratch_ / "in", scratch_ / "elsewhere");
  const auto report = check(scratch_ / "overlay", {});
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("a link to"), std::string::npos) << report.error().message;
  fs::remove_all(scratch_ / "elsewhere/traces");
  EXPECT_FALSE(check(scratch_ / "elsewhere", {}));  // nothing left to look at
}

TEST_F(HandMade, distorted_traces_do_not_pass_for_corrected_ones) {
  {
    ArchiveBuilder archive(scratch_ / "in");
    begin_ring(archive, 1'000'000);
    archive.property("SITE::NAME", "kept");
    archive.finish();
  }
  CorrectOptions options;
  options.check.mu = {MuSource::fixed, 1e-6};
  ASSERT_TRUE(correct(anchor(), scratch_ / "corrected", options));
  ASSERT_TRUE(distort(scratch_ / "corrected", scratch_ / "distorted", {}));
  const auto info = inspect(scratch_ / "distorted");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->properties, (decltype(info->properties){{"SITE::NAME", "kept"}}));
}

TEST_F(HandMade, latencies_out_of_range_are_not_believed) {
  {
    ArchiveBuilder archive(scratch_ / "in");
    begin_ring(archive, 1'000'000);
    archive.property("ENTRAIN::CORRECTION", "mu_ticks=9223372036854775807/1/1");
    archive.finish();
  }
  const auto report = check(anchor(), {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->mu_ticks, MuTicks{});
  expect_corrected(anchor(), scratch_.path());
}

}  // namespace
}  // namespace entrain::test
