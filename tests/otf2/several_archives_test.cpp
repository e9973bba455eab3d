// SPDX-License-Identifier: BSD-3-Clause
// Several archives of one run, as tracers write one per machine: they are read as one trace, and
// each is written back under its name.
#include <gtest/gtest.h>

#include "support/files.hpp"
#include "support/process.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

const fs::path k_traces = fs::path(ENTRAIN_EXAMPLES_DIR) / "traces";

class SeveralArchives : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"a", "b"}) copy_tree(k_traces / "allops-4", folder_ / name);
  }
  /// Runs the tool with a verb and names in the folder.
  [[nodiscard]] ChildOutcome run(const std::string& verb, const std::vector<std::string>& names,
                                 const std::vector<std::string>& options = {}) const {
    std::vector<std::string> arguments{ENTRAIN_BINARY, verb};
    for (const std::string& name : names) arguments.push_back((folder_ / name).string());
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program(arguments);
  }
  /// Corrects these into a folder `output`.
  [[nodiscard]] ChildOutcome correct(const std::vector<std::string>& names,
                                     const std::string& output, const std::string& mode) const {
    return run("correct", names, {"-o", (folder_ / output).string(), "--mode", mode});
  }

  TempFolder folder_;
};

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(SeveralArchives, are_checked_as_one_trace) {
  const auto one = run("info", {"a"}), both = run("info", {"a", "b"});
  ASSERT_EQ(one.exit_code, 0) << one.summary();
  ASSERT_EQ(both.exit_code, 0) << both.summary();
  EXPECT_TRUE(mentions(one.out, "4 locations")) << one.out;
  EXPECT_TRUE(mentions(both.out, "8 locations")) << both.out;
  const auto check = run("check", {"a", "b"}, {"-v"});
  EXPECT_TRUE(check.exit_code == 0 || check.exit_code == 1 || check.exit_code == 3)
      << check.summary();
  EXPECT_TRUE(mentions(check.out + check.err, "nothing ties the clocks of the 2 archives"))
      << check.summary();
}

TEST_F(SeveralArchives, of_equal_names_are_written_into_folders_of_their_own) {
  for (const std::string mode : {"rewrite", "overlay"}) {
    const auto corrected = correct({"a", "b"}, mode + "d", mode);
    ASSERT_NE(corrected.exit_code, 2) << corrected.summary();
    for (const char* name : {"a", "b"}) {
      const fs::path copy = folder_ / (mode + "d") / name;
      EXPECT_TRUE(fs::exists(copy / "traces.otf2")) << corrected.summary();
      const auto again = run("check", {mode + "d/" + name});
      EXPECT_EQ(again.exit_code, 0) << again.summary();
    }
  }
}

TEST_F(SeveralArchives, of_different_names_stand_side_by_side) {
  for (const char* name : {"a", "b"}) {
    fs::create_directory(folder_ / "run");
    const fs::path from = folder_ / name;
    for (const char* ending : {".otf2", ".def"}) {
      fs::copy_file(from / (std::string("traces") + ending),
                    folder_ / "run" / (name + std::string(ending)));
    }
    fs::rename(from / "traces", folder_ / "run" / name);
  }
  const auto corrected = correct({"run"}, "out", "rewrite");
  ASSERT_NE(corrected.exit_code, 2) << corrected.summary();
  EXPECT_TRUE(fs::exists(folder_ / "out" / "a.otf2"));
  EXPECT_TRUE(fs::exists(folder_ / "out" / "b.otf2"));
  EXPECT_EQ(run("check", {"out"}).exit_code, 0);
}

TEST_F(SeveralArchives, of_one_name_and_with_other_files_are_refused) {
  fs::create_directories(folder_ / "c");
  fs::rename(folder_ / "b", folder_ / "c" / "a");
  const auto twins = run("check", {"a", "c/a"});
  EXPECT_EQ(twins.exit_code, 2);
  EXPECT_TRUE(mentions(twins.err, "rename one")) << twins.err;
  write_bytes(folder_ / "x.json", {'[', ']'});
  const auto mixed = run("check", {"a", "x.json"});
  EXPECT_EQ(mixed.exit_code, 2);
  EXPECT_TRUE(mentions(mixed.err, "give them separately")) << mixed.err;
}

}  // namespace
}  // namespace entrain::test
