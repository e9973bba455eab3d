// SPDX-License-Identifier: BSD-3-Clause
#include "formats/registry/standard_input.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"

namespace entrain::formats {

namespace fs = std::filesystem;

namespace {

fs::path path_of(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

/// A new file that vanishes when nothing has it open.
Result<File> nameless_file() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "entrain-XXXXXX").string();
  const int descriptor = error ? -1 : ::mkstemp(name.data());
  if (descriptor < 0) {
    return output_error(
        "there is no folder for temporary files, to which standard input could be copied; name one "
        "in TMPDIR");
  }
  ::unlink(name.c_str());
  return File(descriptor);
}

Result<void> copy_to(File& file) {
  constexpr std::size_t k_block = std::size_t{1} << 20;
  std::vector<std::uint8_t> block(k_block);
  for (;;) {
    const ssize_t size = ::read(STDIN_FILENO, block.data(), block.size());
    if (size == 0) return {};
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      return input_error("cannot read standard input: {}", reason(errno));
    }
    TRY(file.write(std::span(block).first(static_cast<std::size_t>(size))));
  }
}

/// The file must stay open while its path is used.
Result<fs::path> copied() {
  static File file;
  TRY_ASSIGN(file, nameless_file());
  TRY(copy_to(file));
  return path_of(file.descriptor());
}

}  // namespace

Result<fs::path> standard_input() {
  struct stat status {};
  if (::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode)) return path_of(STDIN_FILENO);
  static const Result<fs::path> path = copied();
  return path;
}

}  // namespace entrain::formats
