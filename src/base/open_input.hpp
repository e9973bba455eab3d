// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace entrain {

/// A regular file opened for reading, or the reason why there is none.
struct OpenedInput {
  int descriptor = -1;     ///< the caller closes it; -1: not opened
  int error_number = 0;    ///< errno if the system refused; 0 with descriptor -1: no regular file
  std::uint64_t size = 0;  ///< bytes
};

/// Opens a file that is read: the one way to do so. Only regular files, and links to them, are
/// opened. A pipe, socket, device or folder is refused and not waited for: nobody may ever write
/// into the pipe. Needs nothing but the system, so that the recorder can use it, too.
inline OpenedInput open_input(const char* path) {
  OpenedInput input;
  input.descriptor = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (input.descriptor < 0 && errno == EWOULDBLOCK) {
    // Another process holds a lease on the file, which only regular files have: it gives way soon.
    input.descriptor = ::open(path, O_RDONLY | O_CLOEXEC);
  }
  if (input.descriptor < 0) {
    input.error_number = errno == ENXIO ? 0 : errno;  // a socket, or a device that is not there
    return input;
  }
  struct stat status {};
  if (::fstat(input.descriptor, &status) != 0) {
    input.error_number = errno;
  } else if (S_ISREG(status.st_mode)) {
    input.size = static_cast<std::uint64_t>(status.st_size);
    return input;
  }
  ::close(std::exchange(input.descriptor, -1));
  return input;
}

/// Reads an opened input to the size that it had then, or to where it ends earlier, and closes it.
/// Returns the error number of the system if that refused; `text` holds what came before.
inline int read_and_close(const OpenedInput& input, std::string& text) {
  text.resize(input.size);
  std::size_t done = 0;
  int error_number = 0;
  while (done < text.size()) {
    const ssize_t n = ::read(input.descriptor, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) error_number = errno;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  text.resize(done);
  ::close(input.descriptor);
  return error_number;
}

}  // namespace entrain
