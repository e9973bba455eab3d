// SPDX-License-Identifier: BSD-3-Clause
// From some request on the system gives no more memory: the run ends with exit code 2 and one
// sentence, never by a signal, and leaves nothing behind.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "base/temp_folder_testing.hpp"
#include "failures/preloaded.hpp"
#include "support/files.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

constexpr long k_samples = 40;

class Memory : public testing::Test {
 protected:
  void SetUp() override { ENTRAIN_NEEDS_FAILING_CALLS(); }

  /// Requests for memory of a run.
  [[nodiscard]] long requests_of(const std::vector<std::string>& arguments) const {
    const std::string file = (scratch_ / "count").string();
    const ChildOutcome outcome =
        run_program(preloaded({"COUNT_MEMORY_IN=" + file}, arguments), tool_limits());
    EXPECT_LE(outcome.exit_code, 1) << outcome.summary();
    long count = 0;
    std::ifstream(file) >> count;
    std::filesystem::remove_all(output());
    std::filesystem::remove(file);
    return count;
  }

  void expect_clean_ends(const std::vector<std::string>& arguments) const {
    const long all = requests_of(arguments);
    ASSERT_GT(all, k_samples);
    for (long i = 0; i < k_samples; ++i) {
      // More of them at the beginning, where one thing after the other is set up.
      const long from = 1 + i * i * (all - 1) / (k_samples * k_samples);
      const ChildOutcome outcome = run_program(
          preloaded({"FAIL_MEMORY_FROM=" + std::to_string(from)}, arguments), tool_limits());
      if (outcome.exit_code == 0 || outcome.exit_code == 1) {  // it had ended
        EXPECT_EQ(outcome.err, "") << from;
      } else {
        EXPECT_EQ(outcome.exit_code, 2) << "from " << from << ": " << outcome.summary();
        EXPECT_EQ(outcome.err.rfind("entrain: ", 0), 0u) << "from " << from << ": " << outcome.err;
        EXPECT_EQ(line_count(outcome.err), 1u) << outcome.err;
      }
      // What is there has its final name and is whole.
      for (const std::string& entry : entries_of(scratch_.path())) {
        EXPECT_EQ(entry, "out") << "from " << from;
        EXPECT_LE(run_tool({"check", output()}).exit_code, 1) << "from " << from;
      }
      std::filesystem::remove_all(output());
    }
  }

  [[nodiscard]] std::string output() const { return (scratch_ / "out").string(); }

  TempFolder scratch_;
};

TEST_F(Memory, that_ends_in_info) { expect_clean_ends({"info", example("allops-4")}); }

TEST_F(Memory, that_ends_in_check) {
  expect_clean_ends({"check", example("allops-4"), "--threads", "1"});
}

TEST_F(Memory, that_ends_in_check_with_threads) {
  expect_clean_ends({"check", example("amg-8"), "--threads", "3"});
}

TEST_F(Memory, that_ends_in_correct) {
  expect_clean_ends({"correct", example("allops-4"), "-o", output(), "--threads", "1"});
}

TEST_F(Memory, that_ends_in_correct_with_threads) {
  expect_clean_ends({"correct", example("amg-8"), "-o", output(), "--threads", "3"});
}

/// The files below a folder with their contents, but for the anchor: it has a number made of the
/// time.
std::map<std::string, std::string> archive_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().extension() == ".otf2") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    files[entry.path().lexically_relative(folder).string()] = {std::istreambuf_iterator<char>(in),
                                                               {}};
  }
  return files;
}

/// Wherever one request gets no memory, also in the OTF2 library. (tests/torture tries all.)
TEST(MemoryOfARepair, is_enough_or_missed_by_a_sentence) {
  ENTRAIN_NEEDS_FAILING_CALLS();
  const fs::path program =
      fs::path(ENTRAIN_BINARY).parent_path().parent_path() / "lib/entrain/entrain-record-repair";
  if (!fs::exists(program)) GTEST_SKIP() << "a build without the recorder";
  const TempFolder scratch;
  const fs::path folder = scratch / "trace", unfinished = folder / "unfinished";
  const auto repair = [&](const std::string& variable) {
    fs::remove_all(folder);
    fs::create_directory(folder);
    copy_tree(ENTRAIN_SOURCE_DIR "/tests/regress/unfinished/random-bytes", unfinished);
    std::vector<std::string> command = preloaded({variable}, {folder.string()});
    *(command.end() - 2) = program.string();
    return run_program(command, tool_limits());
  };
  const std::string counted = (scratch / "count").string();
  ASSERT_EQ(repair("COUNT_MEMORY_IN=" + counted).exit_code, 0);
  const auto whole = archive_in(folder);
  long count = 0;
  std::ifstream(counted) >> count;
  ASSERT_GT(count, 100);
  for (long at = 1; at <= count; at += 5) {
    const ChildOutcome outcome = repair("FAIL_MEMORY_ONCE=" + std::to_string(at));
    if (outcome.exit_code == 0) {
      EXPECT_TRUE(archive_in(folder) == whole) << at;
      continue;
    }
    EXPECT_EQ(outcome.exit_code, 2) << at << ": " << outcome.summary();
    EXPECT_EQ(outcome.err.rfind("entrain: ", 0), 0u) << at << ": " << outcome.err;
    EXPECT_EQ(line_count(outcome.err), 1u) << at << ": " << outcome.err;
    EXPECT_TRUE(fs::exists(unfinished / "0.journal") || fs::exists(folder / "traces.otf2")) << at;
  }
}

TEST(MemoryLimit, names_the_folder_that_has_no_room) {
  const TempFolder scratch;
  const ChildOutcome outcome = run_shell("TMPDIR=/no/such/folder \"$0\" check " + example("amg-8") +
                                         " --memory 1M --threads 1");
  expect_refusal(outcome, "in the folder /no/such/folder");
}

}  // namespace
}  // namespace entrain::test
