// SPDX-License-Identifier: BSD-3-Clause
#include "base/durable.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"

namespace entrain {

namespace fs = std::filesystem;

Result<void> make_durable(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  int error_number = descriptor < 0 ? errno : 0;
  while (error_number == 0 && ::fsync(descriptor) != 0) {
    if (errno == EINTR) continue;
    error_number = errno;
  }
  if (descriptor >= 0) ::close(descriptor);
  // Some network file systems; a folder that may be written but not read.
  if (error_number == 0 || error_number == EINVAL || error_number == ENOTSUP ||
      error_number == EACCES) {
    return {};
  }
  return fail(ErrorKind::output,
              fmt::format("cannot write {} to the disk: {}", path.string(), reason(error_number)));
}

Result<void> make_tree_durable(const fs::path& folder) {
  std::vector<fs::path> folders{folder};
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const fs::file_status status = it->symlink_status(error);
    if (error) break;
    if (fs::is_directory(status)) folders.push_back(it->path());
    if (fs::is_regular_file(status)) TRY(make_durable(it->path()));
  }
  if (error) {
    return fail(ErrorKind::output,
                fmt::format("cannot read folder {}: {}", folder.string(), error.message()));
  }
  for (auto one = folders.rbegin(); one != folders.rend(); ++one) TRY(make_durable(*one));
  return {};
}

}  // namespace entrain
