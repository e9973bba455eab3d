// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <entrain/entrain.hpp>

#include <gtest/gtest.h>

#include "base/team.hpp"
#include "base/temp_folder_testing.hpp"
#include "engine/verbs.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Correct, an_archive_without_events_keeps_its_clock_range) {
  const TempFolder folder;
  fs::copy(ENTRAIN_EXAMPLES_DIR "/traces/allops-4", folder / "in", fs::copy_options::recursive);
  for (int rank = 0; rank < 4; ++rank) {
    const fs::path file = folder / "in/traces" / (std::to_string(rank) + ".evt");
    fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        << '\3' << 'B' << std::string("\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16) << '\2' << '\1';
  }
  const auto report = correct(folder / "in", folder / "out", {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(contents(folder / "out/traces.def"), contents(folder / "in/traces.def"));
}

/// Appends a byte to a file when a phase begins.
class Writer final : public Progress {
 public:
  Writer(fs::path file, std::string phase) : file_(std::move(file)), phase_(std::move(phase)) {}
  void begin(std::string_view phase, std::uint64_t, std::string_view) override {
    if (phase == phase_) std::ofstream(file_, std::ios::app) << 'x';
  }
  void advance(std::uint64_t) override {}

 private:
  fs::path file_;
  std::string phase_;
};

TEST(Correct, input_that_changes_meanwhile_is_no_plan) {
  const TempFolder folder;
  fs::copy(ENTRAIN_EXAMPLES_DIR "/traces/allops-4", folder / "in", fs::copy_options::recursive);
  const std::string changed = (folder / "in/traces/2.evt").string();
  fs::permissions(changed, fs::perms::owner_write, fs::perm_options::add);
  Solo solo;
  Writer while_verified(changed, "verify"), while_corrected(changed, "correct");
  EXPECT_TRUE(engine::plan_correction({.processes = solo}, {folder / "in"}, {}));
  const auto plan = engine::plan_correction({.processes = solo, .progress = &while_verified},
                                            {folder / "in"}, {});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message.find(changed + " has changed while it was read"), 0u);
  EXPECT_TRUE(clock_maps(folder / "in", {}, nullptr));
  const auto maps = clock_maps(folder / "in", {}, &while_corrected);
  ASSERT_FALSE(maps);
  EXPECT_EQ(maps.error().message.find(changed + " has changed while it was read"), 0u);
}

std::string facts_of(const CheckReport& report) {
  std::string text = report.archive + '\n';
  for (const EdgeStatistics& edges : report.edges) {
    text += std::to_string(edges.count) + ' ' + std::to_string(edges.violations) + ' ' +
            (edges.worst ? edges.worst->send.region : "") + '\n';
  }
  for (const Counters* counters : {&report.unmatched, &report.skipped}) {
    for (const auto& [name, count] : *counters) text += name + ' ' + std::to_string(count) + '\n';
  }
  return text + std::to_string(report.coverage.paired) + ' ' + std::to_string(report.events);
}

TEST(Correct, says_of_the_times_before_what_check_says) {
  const TempFolder folder;
  for (const std::string name : {"allops-4", "amg-8"}) {
    for (const bool is_file_missing : {false, true}) {
      const fs::path in = folder / (name + (is_file_missing ? "-cut" : ""));
      fs::copy(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / name, in, fs::copy_options::recursive);
      if (is_file_missing) fs::remove(in / "traces/2.def");
      const auto checked = check(in, {});
      ASSERT_TRUE(checked) << checked.error().message;
      for (const WriteMode mode : {WriteMode::overlay, WriteMode::rewrite}) {
        for (const bool verify : {true, false}) {
          CorrectOptions options;
          options.mode = mode;
          options.verify = verify;
          options.force = true;
          const auto corrected = correct(in, folder / "out", options);
          ASSERT_TRUE(corrected) << corrected.error().message;
          EXPECT_EQ(facts_of(corrected->before), facts_of(*checked)) << name << is_file_missing;
        }
      }
    }
  }
}

}  // namespace
}  // namespace entrain
