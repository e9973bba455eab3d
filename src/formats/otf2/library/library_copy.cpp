// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/library/library_copy.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

#include "base/cancel.hpp"
#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/library/child.hpp"

namespace entrain::otf2 {

namespace fs = std::filesystem;

LibraryCopy::~LibraryCopy() { remove_tree(folder_.c_str()); }

#if ENTRAIN_HAS_OTF2_LIBRARY

namespace {

constexpr rlim_t k_memory = rlim_t{2}
                            << 30;  ///< bytes, beside those that the process has mapped already
constexpr unsigned k_least_time_s = 60;
constexpr unsigned k_least_computing_s = 5;
constexpr std::uint64_t k_slowest_bytes_per_s = std::uint64_t{1} << 20;
constexpr std::uint64_t k_largest_message = 400;  ///< bytes

/// Looks at one file of an archive and adds the bytes that it takes on disk (holes take none).
/// Refuses what is no regular file: the library would wait for a pipe.
Result<void> count_file(const fs::path& path, std::uint64_t& bytes) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) return {};
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorKind::input, fmt::format("{} is not a regular file", path.string()));
  }
  constexpr std::uint64_t k_block = 512;
  bytes += std::min(static_cast<std::uint64_t>(status.st_size),
                    k_block * static_cast<std::uint64_t>(status.st_blocks));
  return {};
}

/// Bytes of the files whose names begin as the archive's do. Errors: those of count_file().
Result<std::uint64_t> archive_bytes(const fs::path& anchor) {
  std::uint64_t bytes = 0;
  std::error_code error;
  const fs::path parent = anchor.parent_path();
  const std::string name = anchor.stem().string();
  for (fs::directory_iterator it(parent.empty() ? "." : parent, error), end; !error && it != end;
       it.increment(error)) {
    if (!it->path().filename().string().starts_with(name)) continue;
    TRY(count_file(it->path(), bytes));
    std::error_code inner;
    for (fs::recursive_directory_iterator file(it->path(), inner), last; !inner && file != last;
         file.increment(inner)) {
      TRY(count_file(file->path(), bytes));
    }
  }
  return bytes;
}

/// Limits of the child: of the time that passes, as disks may be slow, and of that in which it
/// computes, as the library runs around in circles in some damaged files.
unsigned time_limit_s(std::uint64_t bytes) {
  return k_least_time_s + static_cast<unsigned>(bytes / k_slowest_bytes_per_s);
}
unsigned computing_limit_s(std::uint64_t bytes) {
  return k_least_computing_s + static_cast<unsigned>(bytes / k_slowest_bytes_per_s);
}

/// Address space that this process has mapped, bytes; 0 if unknown.
rlim_t mapped_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  unsigned long pages = 0;
  const bool read = std::fscanf(file, "%lu", &pages) == 1;
  std::fclose(file);
  return read ? rlim_t{pages} * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

void limit(decltype(RLIMIT_AS) what, rlim_t value) {
  const rlimit both{value, value + (what == RLIMIT_CPU ? 1 : 0)};  // at both at once it is SIGKILL
  (void)::setrlimit(what, &both);
}

/// Makes the child process harmless: silent, with limits, gone when the parent is.
void confine(std::uint64_t bytes) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal :
       {SIGALRM, SIGXCPU, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGINT, SIGTERM}) {
    std::signal(signal, SIG_DFL);
  }
  std::signal(SIGXFSZ, SIG_IGN);  // a write fails instead
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  (void)std::freopen("/dev/null", "r", stdin);
  (void)std::freopen("/dev/null", "w", stdout);
  (void)std::freopen("/dev/null", "w", stderr);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 4 * bytes + (std::uint64_t{64} << 20));
  if (const rlim_t mapped = mapped_bytes(); mapped > 0) limit(RLIMIT_AS, mapped + k_memory);
  limit(RLIMIT_CPU, computing_limit_s(bytes));
  ::alarm(time_limit_s(bytes));
}

/// The library's message that the child left behind, on one line.
std::string message_of(const fs::path& folder) {
  const auto bytes = read_file(folder / k_message_file, k_largest_message * 4);
  if (!bytes) return "no reason given";
  std::string text(bytes->begin(), bytes->end());
  for (char& c : text) {
    if (c < ' ' || c > '~') c = ' ';
  }
  text.resize(std::min<std::size_t>(text.size(), k_largest_message));
  while (!text.empty() && std::string_view(" .!").find(text.back()) != std::string_view::npos) {
    text.pop_back();
  }
  return text.empty() ? "no reason given" : text;
}

/// Translates how the child ended into an error, if it was one.
Result<void> judge(int status, const fs::path& folder, const std::string& subject,
                   std::uint64_t bytes) {
  const auto problem = [&](const std::string& what) {
    return fail(ErrorKind::input,
                fmt::format("{} and {}; convert it to the POSIX substrate and trace format 3",
                            subject, what));
  };
  if (WIFSIGNALED(status)) {
    if (WTERMSIG(status) == SIGINT) return Cancel::error();
    if (WTERMSIG(status) == SIGALRM) {
      return problem(fmt::format("the OTF2 library has not read it in {} s", time_limit_s(bytes)));
    }
    if (WTERMSIG(status) == SIGXCPU) {
      return problem(fmt::format("the OTF2 library has not read it in {} s of computing",
                                 computing_limit_s(bytes)));
    }
    return problem(fmt::format("the OTF2 library crashed over it (signal {})", WTERMSIG(status)));
  }
  switch (WEXITSTATUS(status)) {
    case k_child_done:
      return {};
    case k_child_no_memory:
      return problem("the OTF2 library ran out of memory over it");
    case k_child_no_room:
      return fail(ErrorKind::output,
                  fmt::format("no room in {} for a copy of an archive that {}: {}; set TMPDIR to a "
                              "folder with more",
                              folder.parent_path().string(), subject, message_of(folder)));
    default:
      return problem("the OTF2 library cannot read it: " + message_of(folder));
  }
}

}  // namespace

Result<std::unique_ptr<LibraryCopy>> LibraryCopy::make(const fs::path& anchor,
                                                       const std::string& reason) {
  TRY_ASSIGN(const std::uint64_t bytes, archive_bytes(anchor));
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "entrain-copy-XXXXXX").string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) {
    return fail(ErrorKind::output, fmt::format("cannot make the folder {}; set TMPDIR to another "
                                               "place",
                                               pattern));
  }
  std::unique_ptr<LibraryCopy> copy(new LibraryCopy(pattern));
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    Unfinished::forget_all();
    confine(bytes);
    ::_exit(copy_in_child(anchor, copy->folder()));
  }
  int status = 0;
  pid_t ended = child;
  if (child > 0) {
    do {
      ended = ::waitpid(child, &status, 0);
    } while (ended < 0 && errno == EINTR);
  }
  if (child < 0 || ended < 0) {
    return fail(ErrorKind::input, fmt::format("{} {}, and no process could be started to read it",
                                              anchor.string(), reason));
  }
  TRY(judge(status, copy->folder(), fmt::format("{} {}", anchor.string(), reason), bytes));
  return copy;
}

#else

Result<std::unique_ptr<LibraryCopy>> LibraryCopy::make(const fs::path& anchor,
                                                       const std::string& reason) {
  return fail(
      ErrorKind::input,
      fmt::format("{} {}, which needs the OTF2 library, and this build is without it; build "
                  "with the library, or convert the archive to the POSIX substrate and "
                  "trace format 3",
                  anchor.string(), reason));
}

#endif

}  // namespace entrain::otf2
