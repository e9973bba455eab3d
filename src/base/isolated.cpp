// SPDX-License-Identifier: BSD-3-Clause
#include "base/isolated.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/memory_room.hpp"
#include "base/try.hpp"

#ifdef ENTRAIN_COVERAGE
extern "C" void __gcov_dump();
#endif

namespace entrain {

namespace {

constexpr std::uint32_t k_longest_record = std::uint32_t{64} << 20;

[[noreturn]] void live(std::uint64_t most_memory, int output,
                       const std::function<void(const SendRecord&)>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGABRT, SIGBUS, SIGFPE, SIGSEGV}) {
    std::signal(signal,
                SIG_DFL);  // what the program does about its own end is not for this process
  }
  const std::uint64_t most =
      process_memory().data + most_memory;  // what its parent has counts, too
  const rlimit none{0, 0}, memory{most, most};
  ::setrlimit(RLIMIT_CORE, &none);
  ::setrlimit(RLIMIT_DATA, &memory);
  ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
  std::FILE* const to = ::fdopen(output, "w");
  work([to](std::string_view record) {
    const auto size = static_cast<std::uint32_t>(record.size());
    std::fwrite(&size, sizeof size, 1, to);
    std::fwrite(record.data(), 1, record.size(), to);
  });
#ifdef ENTRAIN_COVERAGE
  ::__gcov_dump();  // _exit() does not count what has run, and the parent may end this process soon
#endif
  std::fclose(to);
  ::_exit(0);
}

/// Shows the records to their end, or as long as they are wanted. False: they are not.
Result<bool> take_all(std::FILE* from, const std::function<Result<bool>(std::string_view)>& take) {
  std::string record;
  for (std::uint32_t size = 0; std::fread(&size, sizeof size, 1, from) == 1;) {
    if (size > k_longest_record) return false;
    record.resize(size);
    if (std::fread(record.data(), 1, size, from) != size) return true;
    TRY_ASSIGN(const bool goes_on, take(record));
    if (!goes_on) return false;
  }
  return true;
}

}  // namespace

Result<int> run_isolated(std::uint64_t most_memory,
                         const std::function<void(const SendRecord&)>& work,
                         const std::function<Result<bool>(std::string_view)>& take) {
  std::array<int, 2> ends{-1, -1};
  const bool has_pipe = ::pipe2(ends.data(), O_CLOEXEC) == 0;
  const pid_t process = has_pipe ? ::fork() : -1;
  if (process == 0) live(most_memory, ends[1], work);
  const int number = errno;
  if (has_pipe) ::close(ends[1]);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> from(::fdopen(ends[0], "r"), std::fclose);
  if (process < 0) {
    return input_error("no process can be made: {}", reason(number));
  }
  const Result<bool> taken = take_all(from.get(), take);
  if (!taken || !*taken) ::kill(process, SIGTERM);  // it may go on without an end
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  TRY(taken);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace entrain
