// SPDX-License-Identifier: BSD-3-Clause
// SIGINT and SIGTERM end a run that waits for the system, too, and nothing unfinished is left.
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/temp_folder_testing.hpp"
#include "failures/preloaded.hpp"
#include "support/files.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

int exit_code_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// Waits until the run has got as far as the last file of its output.
bool reaches_the_anchor(const fs::path& folder) {
  for (int i = 0; i < 1000; ++i) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (fs::exists(entry.path() / "traces.def")) return true;
    }
    ::usleep(10'000);
  }
  return false;
}

class Signals : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { ENTRAIN_NEEDS_FAILING_CALLS(); }

  /// Ends a run that never comes back from creating its anchor. With `variable` also with what
  /// that says.
  void expect_end(int signal, const std::string& variable) {
    const TempFolder scratch;
    const pid_t child = start_program(
        preloaded({"WHEN_CREATED=traces.otf2", variable},
                  {"correct", example("allops-4"), "-o", (scratch / "out").string()}));
    ASSERT_TRUE(reaches_the_anchor(scratch.path()));
    ::usleep(100'000);
    ::kill(child, signal);
    EXPECT_EQ(exit_code_of(child), 130);
    EXPECT_EQ(entries_of(scratch.path()), std::vector<std::string>());
  }
};

TEST_P(Signals, end_a_run_that_waits_for_a_file) {
  for (const int signal : {SIGINT, SIGTERM}) expect_end(signal, GetParam());
}

TEST_P(Signals, end_a_run_that_waits_while_it_writes_a_table) {
  const TempFolder scratch;
  const std::string table = (scratch / "t.csv").string();
  const pid_t child = start_program(preloaded(
      {"WHEN_CREATED=result", GetParam()}, {"check", example("allops-4"), "--bounds-csv", table}));
  for (int i = 0; i < 1000 && entries_of(scratch.path()).empty(); ++i) ::usleep(10'000);
  EXPECT_EQ(entries_of(scratch.path()).size(), 1u);
  ::kill(child, SIGTERM);
  EXPECT_EQ(exit_code_of(child), 130);
  EXPECT_EQ(entries_of(scratch.path()), std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutThreads, Signals,
                         testing::Values("UNUSED=1", "FAIL_THREADS_FROM=1"));

TEST(Signal, ends_a_run_whose_reader_does_not_read) {
  for (const int signal : {SIGINT, SIGTERM}) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    const std::string filling(4096, 'x');
    while (::write(ends[1], filling.data(), filling.size()) > 0) {
    }
    ASSERT_EQ(::fcntl(ends[1], F_SETFL, 0), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execl(ENTRAIN_BINARY, ENTRAIN_BINARY, "info", example("allops-4").c_str(), nullptr);
      ::_exit(127);
    }
    ::usleep(500'000);  // it is at the end of its work, or on the way
    ::kill(child, signal);
    EXPECT_EQ(exit_code_of(child), 130);
    ::close(ends[0]);
    ::close(ends[1]);
  }
}

TEST(Signal, that_a_launcher_sends_twice_is_one) {
  ENTRAIN_NEEDS_FAILING_CALLS();
  const TempFolder scratch;
  const pid_t child =
      start_program(preloaded({"WHEN_CREATED=traces.otf2"},
                              {"correct", example("allops-4"), "-o", (scratch / "out").string()}));
  ASSERT_TRUE(reaches_the_anchor(scratch.path()));
  ::kill(child, SIGTERM);
  ::kill(child, SIGTERM);
  EXPECT_EQ(exit_code_of(child), 130);
  EXPECT_EQ(entries_of(scratch.path()), std::vector<std::string>());
}

}  // namespace
}  // namespace entrain::test
