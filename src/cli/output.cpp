// SPDX-License-Identifier: BSD-3-Clause
#include "cli/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/start_thread.hpp"
#include "base/unfinished.hpp"
#include "cli/processes.hpp"
#include "cli/verb.hpp"
#include "report/text.hpp"

namespace entrain::cli {

namespace {

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
