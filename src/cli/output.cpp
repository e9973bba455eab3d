// SPDX-License-Identifier: BSD-3-Clause
#include "cli/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/verb.hpp"
#include "cli/processes.hpp"
#include "report/text.hpp"

namespace entrain::cli {

void occupy_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // Read-only, so that writing to what was closed still fails. The lowest free descriptor is
    // this one.
    if (::open("/dev/null", O_RDONLY) != descriptor) return;
  }
}

bool write_out(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return true;
  complain(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  return false;
}

void complain(std::string_view sentence) {
  if (speaks()) complain_alone(sentence);
}

void complain_alone(std::string_view sentence) {
  const std::string line = fmt::format("entrain: {}\n", report::printable(sentence));
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
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
