// SPDX-License-Identifier: BSD-3-Clause
//
// What synth, distort and drop do when they cannot do what they are asked for.
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include <entrain/entrain.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

SynthOptions of_size(std::uint64_t locations, std::uint64_t events,
                     SynthFormat format = SynthFormat::otf2) {
  SynthOptions options;
  options.locations = locations;
  options.events = events;
  options.format = format;
  options.threads = 1;
  return options;
}

DropOptions losing(double random, DropStretch windows = {}, DropStretch tail = {}) {
  DropOptions options;
  options.random = random;
  options.windows = windows;
  options.tail = tail;
  options.threads = 1;
  return options;
}

DropOptions losing_call(const std::string& call) {
  DropOptions options;
  options.calls = {call};
  return options;
}

/// Does something when a phase begins, counted from 1.
class Meddler : public Progress {
 public:
  Meddler(int phase, std::function<void()> act) : phase_(phase), act_(std::move(act)) {}
  void begin(std::string_view, std::uint64_t, std::string_view) override {
    if (++phases_ == phase_) act_();
  }
  void advance(std::uint64_t) override {}
  [[nodiscard]] bool cancelled() const override { return is_cancelled; }
  [[nodiscard]] int phases() const { return phases_; }

  bool is_cancelled = false;

 private:
  int phase_, phases_ = 0;
  std::function<void()> act_;
};

struct SimVerbs : testing::Test {
  using Run = std::function<Result<void>(Progress*)>;

  void SetUp() override {
    const auto made = synth(root / "run", of_size(4, 4000));
    ASSERT_TRUE(made) << made.error().message;
  }
  template <class Report>
  static Result<void> done(const Result<Report>& report) {
    return report ? Result<void>() : tl::unexpected<Error>(report.error());
  }
  /// What writes `out` from `run`.
  [[nodiscard]] std::vector<Run> rewrites() const {
    return {[this](Progress* progress) {
              return done(distort(root / "run", root / "out", {.threads = 1}, progress));
            },
            [this](Progress* progress) {
              return done(drop(root / "run", root / "out", losing(0.1), progress));
            },
            [this](Progress* progress) {
              return done(drop(root / "run", root / "out", losing(0, {}, {0.3, 1}), progress));
            }};
  }
  [[nodiscard]] std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(root.path()), fs::directory_iterator());
  }
  /// The event files of the trace.
  [[nodiscard]] std::vector<fs::path> event_files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(root / "run")) {
      if (entry.path().extension() == ".evt") files.push_back(entry.path());
    }
    return files;
  }
  TempFolder root;
};

TEST_F(SimVerbs, that_are_interrupted_leave_nothing) {
  std::vector<Run> runs = rewrites();
  for (const SynthFormat format : {SynthFormat::otf2, SynthFormat::chrome, SynthFormat::otlp}) {
    runs.push_back([this, format](Progress* progress) {
      return done(synth(root / "out", of_size(4, 400'000, format), progress));
    });
  }
  for (const Run& run : runs) {
    Meddler stopped(0, {});
    stopped.is_cancelled = true;
    const auto result = run(&stopped);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::interrupted) << result.error().message;
    EXPECT_EQ(entries(), 1);
  }
}

TEST_F(SimVerbs, refuse_a_trace_that_changes_meanwhile) {
  for (const Run& run : rewrites()) {
    Meddler counts(0, {});
    const auto made = run(&counts);
    ASSERT_TRUE(made) << made.error().message;
    fs::remove_all(root / "out");
    Meddler changes(counts.phases(),
                    [&] { std::ofstream(event_files().front(), std::ios::app) << "more"; });
    const auto result = run(&changes);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::input);
    EXPECT_EQ(entries(), 1) << result.error().message;
    const fs::path file = event_files().front();
    fs::resize_file(file, fs::file_size(file) - 4);
  }
}

TEST_F(SimVerbs, refuse_outputs_that_are_there_or_in_the_trace) {
  fs::create_directory(root / "out");
  std::ofstream(root / "out" / "mine") << "mine";
  for (const Run& run : rewrites()) {
    const auto result = run(nullptr);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::output);
    EXPECT_THAT(result.error().message, HasSubstr("exists already"));
  }
  EXPECT_FALSE(synth(root / "out", {}));
  EXPECT_FALSE(distort(root / "run", root / "run" / "out", {}));
  EXPECT_FALSE(drop(root / "run", root / "run" / "out", losing(0.5)));
  EXPECT_TRUE(fs::exists(root / "out" / "mine"));
  EXPECT_FALSE(fs::exists(root / "run" / "out"));
}

TEST_F(SimVerbs, refuse_a_trace_without_its_events) {
  for (const fs::path& file : event_files()) fs::remove(file);
  for (const Run& run : rewrites()) {
    const auto result = run(nullptr);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::input);
    EXPECT_THAT(result.error().message, HasSubstr((root / "run").string()));
    EXPECT_EQ(entries(), 1);
  }
  fs::remove_all(root / "run");
  for (const Run& run : rewrites()) EXPECT_FALSE(run(nullptr));
  EXPECT_EQ(entries(), 0);
}

TEST_F(SimVerbs, refuse_damaged_events) {
  for (const fs::path& file : event_files()) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes << std::string(16, '\x7F');
  }
  for (const Run& run : rewrites()) {
    const auto result = run(nullptr);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::input);
    EXPECT_EQ(entries(), 1) << result.error().message;
  }
}

TEST_F(SimVerbs, refuse_damaged_local_definitions) {
  for (const auto& entry : fs::recursive_directory_iterator(root / "run")) {
    if (entry.path().extension() == ".def") fs::resize_file(entry.path(), 2);
  }
  for (const Run& run : rewrites()) {
    EXPECT_FALSE(run(nullptr));
    EXPECT_EQ(entries(), 1);
  }
}

TEST_F(SimVerbs, refuse_noise_between_which_time_would_run_backward) {
  const auto result =
      distort(root / "run", root / "out", {.sessions = 1000, .offset_noise_s = 100});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::usage);
  EXPECT_THAT(result.error().message, HasSubstr("ask for less"));
  EXPECT_EQ(entries(), 1);
}

TEST_F(SimVerbs, marks_of_windows_end_where_a_location_does) {
  DropOptions options = losing(0, {0.5, 1}, {0.5, 1});
  options.mark_windows = true;
  const auto both = drop(root / "run", root / "out", options);
  ASSERT_TRUE(both) << both.error().message;
  DropOptions windows = options;
  windows.tail = {};
  const auto all = drop(root / "run", root / "all", windows);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->marks, 2u * 4);
  EXPECT_LT(both->marks, all->marks);
}

TEST_F(SimVerbs, lose_all_records_of_the_calls_that_are_named_and_no_others) {
  SynthOptions mixed = of_size(4, 20'000);
  mixed.pattern = SynthPattern::mixed;
  ASSERT_TRUE(synth(root / "mixed", mixed));
  const auto left = [&](const std::string& call) {
    fs::remove_all(root / "out");
    const auto first = drop(root / "mixed", root / "out", losing_call(call));
    EXPECT_TRUE(first) << first.error().message;
    EXPECT_GT(first->lost, 0u) << call;
    EXPECT_LT(first->lost, first->events) << call;
    fs::remove_all(root / "again");
    const auto again = drop(root / "out", root / "again", losing_call(call));
    EXPECT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->events, first->events - first->lost);
    return again->lost;
  };
  // A kind of record, an operation, and a region.
  for (const char* call : {"isend", "collective", "Allreduce", "MPI_Send"}) {
    EXPECT_EQ(left(call), 0u) << call;
  }
}

TEST_F(SimVerbs, refuse_what_they_cannot_do) {
  const auto says = [](const auto& result, const std::string& part) {
    EXPECT_FALSE(result) << part;
    if (!result) {
      EXPECT_THAT(result.error().message, HasSubstr(part));
    }
  };
  says(synth(root / "out", of_size(4, 1)), "events");
  says(synth(root / "out", of_size(0, 4000)), "locations");
  says(synth(root / "none" / "out", of_size(4, 4000)), "there is no folder");
  ASSERT_TRUE(synth(root / "chrome", of_size(2, 4000, SynthFormat::chrome)));
  says(drop(root / "chrome", root / "out", losing(0.5)), "is no OTF2 archive");
  EXPECT_TRUE(distort(root / "chrome", root / "other", {}));
  EXPECT_FALSE(fs::exists(root / "out"));
}

TEST_F(SimVerbs, refuse_names_that_nothing_has) {
  const auto dropped = drop(root / "run", root / "out", losing_call("MPI_Nothing"));
  ASSERT_FALSE(dropped);
  EXPECT_THAT(dropped.error().message, HasSubstr("MPI_Nothing"));
  EXPECT_EQ(entries(), 1);
}

}  // namespace
}  // namespace entrain
