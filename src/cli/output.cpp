// SPDX-License-Identifier: BSD-3-Clause
#include "cli/output.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/printable.hpp"
#include "base/start_thread.hpp"
#include "base/unfinished.hpp"
#include "cli/verbs.hpp"

namespace entrain::cli {

namespace {

Solo alone;
Team* all_processes = &alone;
/// Asked after the team has gone, too: by the thread that ends an interrupted run.
std::atomic<bool> is_first{true};

bool is_colourless = false;

/// Columns of text that lines may have: those of a narrow terminal, else the usual number.
std::size_t columns_of(int descriptor, std::size_t usual) {
  constexpr std::size_t k_least = 40;  // in fewer, words do not fit
  winsize size{};
  if (::isatty(descriptor) != 1 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return usual;
  return size.ws_col == 0 ? usual : std::clamp<std::size_t>(size.ws_col, k_least, usual);
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
  constexpr std::string_view k_name = "entrain: ";
  constexpr std::size_t k_columns = 100;
  std::string lines;
  for (const std::string& line :
       report::wrapped(presentable(sentence), k_columns - k_name.size())) {
    lines.append(lines.empty() ? k_name : std::string_view("         ")).append(line).append("\n");
  }
  std::fwrite(lines.data(), 1, lines.size(), stderr);
  std::fflush(stderr);
}

void tell_of_refused_threads() {
  if (threads_were_refused()) {
    complain(
        "the system gave fewer threads than wanted; the run took longer, the result is the same");
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

void show_no_colours() { is_colourless = true; }

report::Style output_style(bool verbose) {
  const char* no_color = std::getenv("NO_COLOR");
  report::Style style;
  style.colour = !is_colourless && is_capable_terminal(STDOUT_FILENO) &&
                 (no_color == nullptr || *no_color == '\0');
  style.verbose = verbose;
  style.columns = columns_of(STDOUT_FILENO, style.columns);
  return style;
}

Team& processes() { return *all_processes; }
void set_processes(Team& all) {
  all_processes = &all;
  is_first = all.rank() == 0;
}
bool speaks() { return is_first; }
void fall_silent() { is_first = false; }

}  // namespace entrain::cli
