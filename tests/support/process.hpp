// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>

namespace entrain::test {

/// Limits of a child process. 0: not limited.
struct ChildLimits {
  unsigned timeout_s = 10;     ///< SIGALRM after that many seconds of wall time
  rlim_t address_space = 0;    ///< RLIMIT_AS, bytes
  rlim_t open_files = 0;       ///< RLIMIT_NOFILE
  rlim_t file_size = 0;        ///< RLIMIT_FSIZE, bytes
  std::optional<uid_t> uid{};  ///< become this user (root only)
};

/// How a child process ended and what it said.
struct ChildOutcome {
  int exit_code = -1;      ///< -1: ended by a signal
  int signal = 0;          ///< 0: ended by itself
  bool timed_out = false;  ///< the signal was that of the timeout
  double seconds = 0;      ///< wall time
  std::string out;
  std::string err;

  /// One line for assertion messages.
  [[nodiscard]] std::string summary() const;
};

/// Runs `function` in a forked child, its return value as exit code (an exception: 111). For
/// library calls on damaged input, which may abort or never return.
ChildOutcome run_in_child(const std::function<int()>& function, const ChildLimits& limits = {});

/// Runs a program (arguments[0], looked up in PATH) to its end.
ChildOutcome run_program(const std::vector<std::string>& arguments, const ChildLimits& limits = {});

/// Starts a program with its output thrown away and returns its process id; the caller waits.
pid_t start_program(const std::vector<std::string>& arguments);

/// Number of lines of a text; an unfinished last line counts.
std::size_t line_count(const std::string& text);

}  // namespace entrain::test
