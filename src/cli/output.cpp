// SPDX-License-Identifier: BSD-3-Clause
#include "cli/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/durable.hpp"
#include "base/file.hpp"
#include "base/start_thread.hpp"
#include "base/try.hpp"
#include "base/unfinished.hpp"
#include "cli/processes.hpp"
#include "cli/verb.hpp"
#include "report/text.hpp"

namespace entrain::cli {

namespace fs = std::filesystem;

namespace {

Result<void> check_parent(const fs::path& path) {
  const fs::path parent = path.parent_path();
  std::error_code error;
  if (parent.empty() || fs::is_directory(parent, error)) return {};
  return fail(ErrorKind::output, fmt::format("cannot create {}: there is no folder {}",
                                             path.string(), parent.string()));
}

constexpr std::size_t k_longest_word = 200;      ///< code points: a long path is still known
constexpr std::size_t k_longest_sentence = 380;  ///< code points

/// A sentence without control characters and of limited length: arguments and names in files, which
/// it may repeat, can be anything.
std::string presentable(std::string_view sentence) {
  const std::string text = report::printable(sentence);
  if (report::width_of(text) <= k_longest_word) return text;
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    result += report::shortened(std::string_view(text).substr(at, end - at), k_longest_word);
    if (end < text.size()) result += ' ';
    at = end + 1;
  }
  return report::shortened(result, k_longest_sentence);
}

}  // namespace

void occupy_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // Read-only, so that writing to what was closed still fails. The lowest free descriptor is
    // this one.
    if (::open("/dev/null", O_RDONLY) != descriptor) return;
  }
}

bool write_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {  // somebody made it non-blocking
      pollfd room{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      const std::string why = std::strerror(errno);
      const bool complete = *noted_result() != '\0';
      complain(fmt::format("cannot write to standard output: {}{}{}", why,
                           complete ? "; the result is complete: " : "", noted_result()));
      return false;
    }
  }
  return true;
}

namespace {

/// Removes a file at the end of the scope, also of one that ends without memory or by a signal, if
/// it still has that name.
class RemovedAtEnd {
 public:
  explicit RemovedAtEnd(const fs::path& path) : path_(path), unfinished_(path) {}
  RemovedAtEnd(const RemovedAtEnd&) = delete;
  RemovedAtEnd& operator=(const RemovedAtEnd&) = delete;
  ~RemovedAtEnd() { remove_tree(path_.c_str()); }

 private:
  const fs::path& path_;
  Unfinished unfinished_;
};

}  // namespace

Result<void> check_new_file(const fs::path& path) {
  if (!file_exists(path)) return check_parent(path);
  return fail(ErrorKind::output,
              fmt::format("{} exists; remove it or choose another name", path.string()));
}

Result<void> write_new_file(const fs::path& path, std::string_view text) {
  TRY(check_new_file(path));
  return write_file_anew(path, text);
}

Result<void> write_file_anew(const fs::path& path, std::string_view text) {
  TRY(check_parent(path));
  const fs::path partial =
      path.parent_path() / fmt::format(".{}.partial-{}", path.filename().string(), ::getpid());
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const RemovedAtEnd removed(partial);
  TRY(under_final_name(write_file(partial, {bytes, text.size()}), partial, path));
  TRY(under_final_name(make_durable(partial), partial, path));
  std::error_code error;
  fs::rename(partial, path, error);
  if (!error) return make_name_durable(path, path.parent_path());
  return fail(ErrorKind::output,
              fmt::format("cannot create {}: {}", path.string(), error.message()));
}

Result<void> under_final_name(Result<void> result, const fs::path& partial, const fs::path& path) {
  if (result) return result;
  std::string message = result.error().message;
  if (const std::size_t at = message.find(partial.string()); at != message.npos)
    message.replace(at, partial.string().size(), path.string());
  return tl::unexpected(Error{result.error().kind, message});
}

void complain(std::string_view sentence) {
  if (speaks()) complain_alone(sentence);
}

void complain_alone(std::string_view sentence) {
  const std::string line = fmt::format("entrain: {}\n", presentable(sentence));
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

void tell_of_refused_threads() {
  if (threads_were_refused()) {
    complain(
        "the system gave fewer threads than wanted; the run took longer, the result is the "
        "same");
  }
}

int exit_code_of(const Error& error) {
  complain(error.message);
  return error.kind == ErrorKind::interrupted ? k_exit_interrupted : k_exit_failure;
}

bool is_capable_terminal(int descriptor) {
  const char* terminal = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

report::Style output_style(bool verbose) {
  const char* no_color = std::getenv("NO_COLOR");
  report::Style style;
  style.colour = is_capable_terminal(STDOUT_FILENO) && (no_color == nullptr || *no_color == '\0');
  style.verbose = verbose;
  return style;
}

}  // namespace entrain::cli
