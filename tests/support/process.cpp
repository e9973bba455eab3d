// SPDX-License-Identifier: BSD-3-Clause
#include "support/process.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string_view>

#include <fcntl.h>
#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

namespace entrain::test {

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// Exit codes of a child that did not get as far as the work.
constexpr int k_exception = 111;
constexpr int k_setup_failed = 112;
constexpr int k_exec_failed = 127;

std::string content(std::FILE* file) {
  std::string text;
  std::rewind(file);
  char buffer[4096];
  while (const auto count = std::fread(buffer, 1, sizeof buffer, file)) text.append(buffer, count);
  return text;
}

/// Messages without the breaks between their lines, so that tests find whole sentences.
std::string unwrapped(std::string text) {
  const std::string indent = "\n" + std::string(std::string_view("entrain: ").size(), ' ');
  for (std::size_t at = 0; (at = text.find(indent, at)) != std::string::npos;) {
    text.replace(at, indent.size(), " ");
  }
  return text;
}

void limit(decltype(RLIMIT_AS) what, rlim_t value) {
  if (value == 0) return;
  const rlimit both{value, value};
  if (::setrlimit(what, &both) != 0) ::_exit(k_setup_failed);
}

void enter_limits(const ChildLimits& limits) {
  limit(RLIMIT_AS, limits.address_space);
  limit(RLIMIT_NOFILE, limits.open_files);
  limit(RLIMIT_FSIZE, limits.file_size);
  limit(RLIMIT_CORE, 1);  // no core files for crashes that are expected
  if (limits.uid) {
    if (::setgroups(0, nullptr) != 0 || ::setgid(*limits.uid) != 0 || ::setuid(*limits.uid) != 0) {
      ::_exit(k_setup_failed);
    }
  }
  ::alarm(limits.timeout_s);
}

[[noreturn]] void execute(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  std::fprintf(stderr, "cannot run %s\n", argv[0]);
  ::_exit(k_exec_failed);
}

}  // namespace

std::string ChildOutcome::summary() const {
  return "exit code " + std::to_string(exit_code) + ", signal " + std::to_string(signal) +
         (timed_out ? " (timeout)" : "") + ", stdout \"" + out.substr(0, 400) + "\", stderr \"" +
         err.substr(0, 400) + "\"";
}

ChildOutcome run_in_child(const std::function<int()>& function, const ChildLimits& limits) {
  const File out(std::tmpfile()), err(std::tmpfile());
  if (!out || !err) throw std::runtime_error("no temporary file for the output of a child");
  std::fflush(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    ::dup2(::fileno(out.get()), STDOUT_FILENO);
    ::dup2(::fileno(err.get()), STDERR_FILENO);
    enter_limits(limits);
    int code = k_exception;
    try {
      code = function();
    } catch (const std::exception& exception) {
      std::fprintf(stderr, "exception: %s\n", exception.what());
    }
    std::fflush(nullptr);
    ::_exit(code);
  }
  int status = 0;
  pid_t ended = -1;
  do {
    ended = ::waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);  // the fuzzers have a timer
  if (ended != child) throw std::runtime_error("waitpid failed");
  ChildOutcome outcome;
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  outcome.timed_out = outcome.signal == SIGALRM;
  outcome.out = content(out.get());
  outcome.err = unwrapped(content(err.get()));
  return outcome;
}

ChildOutcome run_program(const std::vector<std::string>& arguments, const ChildLimits& limits) {
  return run_in_child([&]() -> int { execute(arguments); }, limits);
}

pid_t start_program(const std::vector<std::string>& arguments) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child != 0) return child;
  const int nowhere = ::open("/dev/null", O_RDWR);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  execute(arguments);
}

std::size_t line_count(const std::string& text) {
  std::size_t lines = 0;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  return lines + (!text.empty() && text.back() != '\n' ? 1 : 0);
}

}  // namespace entrain::test
