// SPDX-License-Identifier: BSD-3-Clause
// The tool against missing, unreadable and unwritable files, and against being killed: exit code 2
// with one line on standard error and nothing on standard output, or a result that says what is
// missing; the input stays as it was and nothing half-done has the final name.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <thread>

#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "support/damaged_archive.hpp"
#include "support/files.hpp"
#include "support/process.hpp"
#include "support/small_trace.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

class Tool : public testing::Test {
 protected:
  Tool() : archive_(scratch_.path()) {}
  void TearDown() override { fs::remove_all(scratch_ / "work"); }

  [[nodiscard]] fs::path output() const { return scratch_ / "work" / "out"; }

  [[nodiscard]] ChildOutcome run(std::vector<std::string> arguments,
                                 const ChildLimits& limits = {}) const {
    arguments.insert(arguments.begin(), ENTRAIN_BINARY);
    return run_program(arguments, limits);
  }
  [[nodiscard]] ChildOutcome check(const ChildLimits& limits = {}) const {
    return run({"check", archive_.folder().string(), "--json"}, limits);
  }
  [[nodiscard]] ChildOutcome correct(const fs::path& to, const ChildLimits& limits = {},
                                     const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"correct", archive_.folder().string(), "-o", to.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, limits);
  }

  /// Every verb that reads the archive refuses it and names `name`.
  void expect_refused_everywhere(const std::string& name) {
    const auto before = digest_tree(archive_.folder());
    const std::string input = archive_.folder().string(), out = output().string();
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"info", input},
          {"check", input},
          {"check", "--json", input},
          {"correct", input, "-o", out},
          {"correct", input, "-o", out, "--mode", "overlay"},
          {"distort", input, "-o", out},
          {"drop", input, "-o", out, "--tail", "0.1", "--call", "Bcast"},
          {"compare", input, input}}) {
      SCOPED_TRACE(arguments[0]);
      expect_refused(run(arguments), name);
      EXPECT_EQ(entries_of(scratch_ / "work"), std::vector<std::string>());
    }
    EXPECT_EQ(digest_tree(archive_.folder()), before);
  }

  static void expect_refused(const ChildOutcome& outcome, const std::string& name) {
    EXPECT_EQ(outcome.exit_code, 2) << outcome.summary();
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(line_count(outcome.err), 1u) << outcome.err;
    EXPECT_NE(outcome.err.find(name), std::string::npos) << outcome.err;
  }

  /// check --json goes through and its counter `name` has this value; correct goes through.
  void expect_counted(const std::string& name, unsigned value) {
    const auto before = digest_tree(archive_.folder());
    const auto checked = check();
    const auto judged = [](int code) { return code == 0 || code == 1 || code == 3; };
    ASSERT_TRUE(judged(checked.exit_code)) << checked.summary();
    const auto json = nlohmann::json::parse(checked.out);
    EXPECT_EQ(json["skipped"].value(name, 0u), value) << json["skipped"].dump();
    const auto corrected = correct(output());
    EXPECT_TRUE(corrected.exit_code == 0 || corrected.exit_code == 3) << corrected.summary();
    EXPECT_TRUE(fs::exists(output() / "traces.otf2"));
    EXPECT_EQ(digest_tree(archive_.folder()), before);
  }

  TempFolder scratch_;
  DamagedArchive archive_;
};

TEST_F(Tool, corrects_the_undamaged_archive) {
  const auto checked = check();
  EXPECT_EQ(checked.exit_code, 1) << checked.summary();  // it has violations
  const auto corrected = correct(output());
  EXPECT_EQ(corrected.exit_code, 0) << corrected.summary();
  EXPECT_EQ(entries_of(scratch_ / "work"), std::vector<std::string>{"out"});
}

TEST_F(Tool, refuses_a_missing_anchor) {
  archive_.remove("traces.otf2");
  expect_refused_everywhere(archive_.folder().string());
}

TEST_F(Tool, refuses_an_anchor_alone) {
  archive_.remove("traces.def");
  archive_.remove("traces");
  expect_refused_everywhere("traces.def");
}

TEST_F(Tool, refuses_missing_global_definitions) {
  archive_.remove("traces.def");
  expect_refused_everywhere("traces.def");
}

TEST_F(Tool, refuses_an_empty_anchor) {
  archive_.damage("traces.otf2", {});
  expect_refused_everywhere("traces.otf2");
}

TEST_F(Tool, refuses_empty_global_definitions) {
  archive_.damage("traces.def", {});
  expect_refused_everywhere("traces.def");
}

TEST_F(Tool, refuses_an_empty_local_definition_file) {
  archive_.damage("traces/2.def", {});
  expect_refused_everywhere("2.def");
}

TEST_F(Tool, refuses_a_file_that_is_no_archive) {
  archive_.damage("traces.otf2", Bytes(5000, 'x'));
  expect_refused_everywhere("traces.otf2");
}

TEST_F(Tool, counts_a_missing_event_file) {
  archive_.remove("traces/2.evt");
  expect_counted("missing_event_files", 1);
}

TEST_F(Tool, counts_missing_local_definitions) {
  archive_.remove("traces/1.def");
  archive_.remove("traces/3.def");
  expect_counted("missing_definition_files", 2);
}

TEST_F(Tool, counts_an_empty_event_file) {
  archive_.damage("traces/3.evt", {});
  expect_counted("truncated_event_files", 1);
}

TEST_F(Tool, counts_the_partners_of_a_missing_location) {
  archive_.remove("traces/2.evt");
  const auto json = nlohmann::json::parse(check().out);
  std::uint64_t unmatched = 0;
  for (const auto& count : json["unmatched"]) unmatched += count.get<std::uint64_t>();
  EXPECT_GE(unmatched, 20u) << json["unmatched"].dump();
}

TEST_F(Tool, refuses_an_archive_without_any_location) {
  archive_.remove("traces");
  const auto checked = check();
  EXPECT_EQ(checked.exit_code, 2) << checked.summary();
  EXPECT_EQ(line_count(checked.err), 1u) << checked.err;
  EXPECT_EQ(checked.out, "");
}

/// A user id that is nobody's, for root, who may read everything.
ChildLimits as_nobody() {
  ChildLimits limits;
  if (::geteuid() == 0) limits.uid = 54321;
  return limits;
}

TEST_F(Tool, refuses_files_it_may_not_read) {
  // The folders themselves are open to that user.
  for (const fs::path& folder :
       {scratch_.path(), archive_.folder(), archive_.folder() / "traces"}) {
    fs::permissions(folder, fs::perms::all);
  }
  ASSERT_NE(check(as_nobody()).exit_code, 2) << check(as_nobody()).summary();
  for (const char* file : {"traces/1.evt", "traces/1.def", "traces.def", "traces.otf2"}) {
    SCOPED_TRACE(file);
    fs::permissions(archive_.folder() / file, fs::perms::none);
    expect_refused(check(as_nobody()), fs::path(file).filename().string());
    fs::permissions(archive_.folder() / file, fs::perms(0644));
  }
}

TEST_F(Tool, refuses_an_output_folder_it_may_not_make) {
  fs::permissions(scratch_.path(), fs::perms::all);
  fs::permissions(scratch_ / "work", fs::perms(0555));
  expect_refused(correct(output(), as_nobody()), "work");
  fs::permissions(scratch_ / "work", fs::perms::all);
  EXPECT_EQ(entries_of(scratch_ / "work"), std::vector<std::string>());
}

TEST_F(Tool, refuses_an_existing_output) {
  fs::create_directories(output());
  write_bytes(output() / "precious", {1, 2, 3});
  const auto before = digest_tree(scratch_.path());
  expect_refused(correct(output()), "out");
  expect_refused(correct(output(), {}, {"--force"}), "out");  // no archive: not to be replaced
  EXPECT_EQ(digest_tree(scratch_.path()), before);
}

TEST_F(Tool, refuses_an_output_that_touches_the_input) {
  const auto before = digest_tree(archive_.folder());
  for (const fs::path& place :
       {archive_.folder(), archive_.folder() / "traces", archive_.folder() / "traces" / "new",
        archive_.folder().parent_path()}) {
    for (const auto& more : {std::vector<std::string>{}, {"--force"}}) {
      SCOPED_TRACE(place);
      expect_refused(correct(place, {}, more), place.filename().string());
      EXPECT_EQ(digest_tree(archive_.folder()), before);
    }
  }
  // Through a link, too.
  fs::create_directory_symlink(archive_.folder(), scratch_ / "link");
  expect_refused(correct(scratch_ / "link", {}, {"--force"}), "link");
  EXPECT_EQ(digest_tree(archive_.folder()), before);
}

TEST_F(Tool, refuses_a_full_disk) {
  const fs::path disk = scratch_ / "disk";
  fs::create_directory(disk);
  if (::geteuid() != 0 || ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=256k") != 0) {
    std::puts("skipped: only root can mount a small disk here");
    GTEST_SKIP() << "only root can mount a small disk here";
  }
  const auto before = digest_tree(archive_.folder());
  const auto outcome = correct(disk / "out");
  const auto left = entries_of(disk);
  ::umount(disk.c_str());
  expect_refused(outcome, "disk");
  EXPECT_EQ(left, std::vector<std::string>());
  EXPECT_EQ(digest_tree(archive_.folder()), before);
}

TEST_F(Tool, refuses_files_larger_than_the_limit) {
  // The limit of a shell's `ulimit -f`, whose signal must not end the tool either.
  expect_refused(correct(output(), {.file_size = 100'000}), "0.evt");
  EXPECT_EQ(entries_of(scratch_ / "work"), std::vector<std::string>());
}

TEST_F(Tool, leaves_nothing_that_looks_whole_when_killed) {
  // A longer trace, so that there is something to interrupt.
  const fs::path input = scratch_ / "long";
  write_small_trace(input, {.rounds = 4000, .filler_pairs = 300'000});
  const auto before = digest_tree(input);
  unsigned killed = 0;
  for (const int delay_ms : {2, 5, 10, 20, 30, 50, 80, 120, 200, 400}) {
    fs::remove_all(scratch_ / "work");
    fs::create_directory(scratch_ / "work");
    const pid_t child = start_program(
        {ENTRAIN_BINARY, "correct", input.string(), "-o", output().string(), "--threads", "1"});
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(digest_tree(input), before);
    const bool complete = fs::exists(output());
    if (WIFSIGNALED(status)) ++killed;
    if (!complete) {
      // What a killed run leaves is hidden and has no anchor, or is a whole archive not yet named.
      for (const auto& name : entries_of(scratch_ / "work")) EXPECT_EQ(name.front(), '.') << name;
      continue;
    }
    const auto checked = run({"check", output().string()});
    EXPECT_EQ(checked.exit_code, 0) << checked.summary();
  }
  EXPECT_GT(killed, 0u);
  // A later run is not hindered by the remains.
  const auto again =
      run({"correct", input.string(), "-o", output().string(), "--force"}, {.timeout_s = 60});
  EXPECT_EQ(again.exit_code, 0) << again.summary();
}

}  // namespace
}  // namespace entrain::test
