// SPDX-License-Identifier: BSD-3-Clause
#include "cli/progress_bar.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "cli/verbs.hpp"

namespace entrain::cli {
namespace {

TEST(ProgressLine, shows_phase_bar_percent_rate_and_remaining_time) {
  EXPECT_EQ(progress_line({"scan", 250, 1000, 5}, 60),
            "scan      [====               ]  25 %       50 /s  0:15 left");
}

TEST(ProgressLine, tells_the_unit_or_the_time_that_has_passed) {
  EXPECT_EQ(progress_line({"scan", 3'000'000'000, 6'000'000'000, 2, "B"}, 40),
            "scan        50 %    1.5 GB/s  0:02 left");
  EXPECT_EQ(progress_line({"write", 30'000, 60'000, 2, "events"}, 46),
            "write       50 %  15.0 k events/s  0:02 left");
  EXPECT_EQ(progress_line({"plan", 1'500, 0, 2, "hosts"}, 60),
            "plan      1,500 hosts  750 hosts/s");
  EXPECT_EQ(progress_line({"match", 0, 0, 63}, 60), "match     1:03");
}

TEST(ProgressLine, fits_every_terminal) {
  for (std::size_t columns = 0; columns < 120; ++columns) {
    EXPECT_LE(progress_line({"backward", 1, 3, 1e5}, columns).size(), columns);
    EXPECT_LE(progress_line({"backward", 123456789, 0, 0}, columns).size(), columns);
  }
  EXPECT_EQ(progress_line({"scan", 500, 1000, 1}, 32).find('['), std::string::npos);
}

TEST(ProgressLine, survives_odd_numbers) {
  EXPECT_NE(progress_line({"scan", 0, 10, 0}, 80).find("  0 %"), std::string::npos);
  EXPECT_NE(progress_line({"scan", 20, 10, 1}, 80).find("100 %"), std::string::npos);
  EXPECT_NE(progress_line({"scan", 1, ~std::uint64_t{0}, 1e9}, 80).find("99:59:59"),
            std::string::npos);
}

TEST(ProgressBar, says_nothing_without_a_terminal) {
  testing::internal::CaptureStderr();
  {
    ProgressBar bar(false, false);
    bar.begin("scan", 10, {});
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&bar] { bar.advance(1); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_FALSE(bar.cancelled());
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

/// Makes standard error a terminal while it exists.
class TerminalAsStderr {
 public:
  TerminalAsStderr() : saved_(::dup(STDERR_FILENO)), master_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    ::setenv("TERM", "xterm", 1);
    if (::grantpt(master_) != 0 || ::unlockpt(master_) != 0) return;
    const int slave = ::open(::ptsname(master_), O_RDWR | O_NOCTTY);
    if (slave < 0) return;
    ready_ = ::dup2(slave, STDERR_FILENO) == STDERR_FILENO;
    ::close(slave);
  }
  ~TerminalAsStderr() {
    ::dup2(saved_, STDERR_FILENO);
    ::close(saved_);
    ::close(master_);
  }
  [[nodiscard]] bool ready() const { return ready_; }
  /// The text written to the terminal so far; the kernel passes it on a little later.
  [[nodiscard]] std::string text() const {
    std::string text;
    std::array<char, 4096> part{};
    pollfd ready{master_, POLLIN, 0};
    while (::poll(&ready, 1, 200) > 0) {
      const ssize_t count = ::read(master_, part.data(), part.size());
      if (count <= 0) break;
      text.append(part.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  int saved_, master_;
  bool ready_ = false;
};

TEST(ProgressBar, is_drawn_on_a_terminal_after_a_second_and_removed) {
  const TerminalAsStderr terminal;
  ASSERT_TRUE(terminal.ready());
  {
    ProgressBar bar(false, false);
    ProgressBar quiet(true, false);
    bar.begin("scan", 100, "B");
    quiet.begin("quiet", 100, "B");
    bar.advance(25);
    quiet.advance(10);
    EXPECT_EQ(terminal.text(), "");
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // nobody advances
  }
  const std::string text = terminal.text();
  EXPECT_EQ(text.find("\rscan "), 0u) << text;
  EXPECT_NE(text.find(" 25 % "), std::string::npos) << text;
  EXPECT_EQ(text.find("quiet"), std::string::npos) << text;
  EXPECT_EQ(text.substr(text.rfind('\r')), "\r\x1b[K");
}

TEST(ProgressBar, verbose_tells_the_time_of_every_phase) {
  testing::internal::CaptureStderr();
  {
    ProgressBar bar(false, true);
    bar.begin("scan", 10, {});
    bar.begin("write", 0, {});
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("entrain: scan took "), 0u) << text;
  EXPECT_NE(text.find("\nentrain: write took "), std::string::npos) << text;

  testing::internal::CaptureStderr();
  { ProgressBar(true, true).begin("scan", 10, {}); }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "quiet wins";
}

TEST(ProgressBarDeathTest, signals_ask_to_stop_once_and_end_the_second_time) {
  const auto signal_once = [] {
    install_signal_handlers();
    const bool before = ProgressBar(true, false).cancelled();
    ::kill(::getpid(), SIGTERM);
    while (!interrupted()) ::usleep(1000);
    std::_Exit(!before && ProgressBar(true, false).cancelled() ? 0 : 1);
  };
  EXPECT_EXIT(signal_once(), testing::ExitedWithCode(0), "");
  const auto signal_twice = [] {
    install_signal_handlers();
    ::kill(::getpid(), SIGINT);
    ::usleep(200'000);
    ::kill(::getpid(), SIGINT);
    ::usleep(100'000'000);
  };
  EXPECT_EXIT(signal_twice(), testing::KilledBySignal(SIGINT), "");
}

TEST(OutputStyle, has_no_colours_under_a_launcher) {
  const int saved = ::dup(STDOUT_FILENO);
  const TerminalAsStderr terminal;
  ASSERT_TRUE(terminal.ready());
  ::unsetenv("NO_COLOR");
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  const bool before = output_style(false).colour;
  show_no_colours();
  const bool after = output_style(false).colour;
  ::dup2(saved, STDOUT_FILENO);
  ::close(saved);
  EXPECT_TRUE(before);
  EXPECT_FALSE(after);
}

TEST(ExitCode, depends_on_the_kind_of_error) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(exit_code_of({ErrorKind::interrupted, "stopped"}), 130);
  EXPECT_EQ(exit_code_of({ErrorKind::usage, "no"}), 2);
  EXPECT_EQ(exit_code_of({ErrorKind::input, "bad\nnews"}), 2);
  EXPECT_EQ(exit_code_of({ErrorKind::output, "full"}), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "entrain: stopped\nentrain: no\nentrain: bad\\u000anews\nentrain: full\n");
}

}  // namespace
}  // namespace entrain::cli
