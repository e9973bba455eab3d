// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/in_child.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>

namespace entrain::record {

namespace {

constexpr int k_done = 0, k_refused = 1, k_no_memory = 2;

/// Fits into a pipe at once.
constexpr std::size_t k_longest_problem = 1024;

[[noreturn]] void end_without_memory() { ::_exit(k_no_memory); }

[[noreturn]] void work_as_child(const std::function<std::string()>& work, int answer) {
  std::set_terminate(end_without_memory);  // the library lets no exception through
  // Messages of libraries that end the process are no sentences for users.
  if (const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) {
    ::dup2(nowhere, STDERR_FILENO);
  }
  try {
    const std::string problem = work();
    const std::size_t size = std::min(problem.size(), k_longest_problem);
    const bool told = ::write(answer, problem.data(), size) == static_cast<ssize_t>(size);
    ::_exit(problem.empty() && told ? k_done : k_refused);
  } catch (const std::bad_alloc&) {
    end_without_memory();
  }
}

/// Reads the answer of the child, which has ended.
std::string answer_of(int pipe) {
  std::array<char, k_longest_problem> text{};
  ssize_t size = 0;
  do {
    size = ::read(pipe, text.data(), text.size());
  } while (size < 0 && errno == EINTR);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

std::string judge(int status, int pipe) {
  if (!WIFEXITED(status)) return "the OTF2 library crashed";
  if (WEXITSTATUS(status) == k_no_memory) throw std::bad_alloc();
  if (WEXITSTATUS(status) == k_done) return "";
  const std::string problem = answer_of(pipe);
  return problem.empty() ? "the OTF2 library ended" : problem;
}

}  // namespace

std::string in_child(const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return std::strerror(errno);
  const pid_t child = ::fork();
  int error_number = child < 0 ? errno : 0;
  if (child == 0) work_as_child(work, ends[1]);
  ::close(ends[1]);
  int status = 0;
  while (error_number == 0 && ::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) error_number = errno;
  }
  struct Closed {
    int file;
    ~Closed() { ::close(file); }
  } const closed{ends[0]};
  return error_number != 0 ? std::strerror(error_number) : judge(status, ends[0]);
}

}  // namespace entrain::record
