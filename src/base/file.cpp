// SPDX-License-Identifier: BSD-3-Clause
#include "base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "base/try.hpp"

namespace entrain {

namespace {

constexpr std::size_t k_copy_block = std::size_t{1} << 20;

/// Calls `write_some(rest, size, done)` until all of `bytes` are written. It returns how many of
/// the `size` bytes at `rest` it took, or -1 with errno; `done` bytes were written before.
template <class WriteSome>
Result<void> write_all(const std::filesystem::path& path, std::span<const std::uint8_t> bytes,
                       const WriteSome& write_some) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = write_some(bytes.data() + done, bytes.size() - done, done);
    if (n < 0) {
      if (errno == EINTR) continue;
      return fail(ErrorKind::output,
                  fmt::format("cannot write {}: {}", path.string(), reason(errno)));
    }
    done += static_cast<std::size_t>(n);
  }
  return {};
}

}  // namespace

std::string reason(int error_number) { return std::generic_category().message(error_number); }

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<File> File::open_for_reading(const std::filesystem::path& path) {
  File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  file.path_ = path;
  if (!file.is_open()) {
    const int error_number = errno;
    std::error_code error;
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    return fail(ErrorKind::input,
                fmt::format("cannot open {}{}: {}", path.string(),
                            error ? "" : fmt::format(" (a link to {})", target.string()),
                            reason(error_number)));
  }
  struct stat status {};
  if (::fstat(file.descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    return fail(ErrorKind::input, fmt::format("{} is not a regular file", path.string()));
  }
  return file;
}

Result<File> File::create(const std::filesystem::path& path) {
  File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  file.path_ = path;
  if (!file.is_open()) {
    return fail(ErrorKind::output,
                fmt::format("cannot create {}: {}", path.string(), reason(errno)));
  }
  return file;
}

Result<File> File::open_for_writing(const std::filesystem::path& path) {
  File file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  file.path_ = path;
  if (!file.is_open()) {
    return fail(ErrorKind::output,
                fmt::format("cannot write {}: {}", path.string(), reason(errno)));
  }
  return file;
}

Result<std::uint64_t> File::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) {
    return fail(ErrorKind::input, fmt::format("cannot read {}: {}", path_.string(), reason(errno)));
  }
  return static_cast<std::uint64_t>(status.st_size);
}

Result<std::size_t> File::read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::pread(descriptor_, bytes.data() + done, bytes.size() - done,
                              static_cast<off_t>(offset + done));
    if (n == 0) break;
    if (n < 0) {
      if (errno == EINTR) continue;
      return fail(ErrorKind::input,
                  fmt::format("cannot read {}: {}", path_.string(), reason(errno)));
    }
    done += static_cast<std::size_t>(n);
  }
  return done;
}

Result<void> File::write(std::span<const std::uint8_t> bytes) {
  return write_all(path_, bytes, [&](const std::uint8_t* rest, std::size_t size, std::size_t) {
    return ::write(descriptor_, rest, size);
  });
}

Result<void> File::write_at(std::uint64_t offset, std::span<const std::uint8_t> bytes) const {
  return write_all(path_, bytes, [&](const std::uint8_t* rest, std::size_t size, std::size_t done) {
    return ::pwrite(descriptor_, rest, size, static_cast<off_t>(offset + done));
  });
}

Result<void> File::close() {
  // The disk begins to write now and not only when somebody waits for it.
  if (descriptor_ >= 0) ::sync_file_range(descriptor_, 0, 0, SYNC_FILE_RANGE_WRITE);
  if (descriptor_ >= 0 && ::close(std::exchange(descriptor_, -1)) != 0) {
    return fail(ErrorKind::output,
                fmt::format("cannot write {}: {}", path_.string(), reason(errno)));
  }
  return {};
}

Result<std::vector<std::uint8_t>> read_file(const std::filesystem::path& path,
                                            std::uint64_t limit) {
  TRY_ASSIGN(const File file, File::open_for_reading(path));
  TRY_ASSIGN(const std::uint64_t size, file.size());
  if (size > limit) {
    return fail(ErrorKind::input, fmt::format("{} is larger than the {} bytes expected at most",
                                              path.string(), limit));
  }
  std::vector<std::uint8_t> bytes(size);
  TRY_ASSIGN(const std::size_t read, file.read_at(0, bytes));
  bytes.resize(read);
  return bytes;
}

Result<void> write_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  TRY_ASSIGN(File file, File::create(path));
  TRY(file.write(bytes));
  return file.close();
}

bool file_exists(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::symlink_status(path, error).type() !=
         std::filesystem::file_type::not_found;
}

Result<void> duplicate_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  TRY_ASSIGN(const File source, File::open_for_reading(from));
  TRY_ASSIGN(File target, File::create(to));
  while (true) {
    const ssize_t n = ::copy_file_range(source.descriptor(), nullptr, target.descriptor(), nullptr,
                                        k_copy_block * 64, 0);
    if (n == 0) return target.close();
    if (n > 0) continue;
    if (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) break;
    return fail(ErrorKind::output, fmt::format("cannot write {}: {}", to.string(), reason(errno)));
  }
  std::vector<std::uint8_t> block(k_copy_block);
  const off_t begin = ::lseek(target.descriptor(), 0, SEEK_CUR);
  for (auto offset = static_cast<std::uint64_t>(begin < 0 ? 0 : begin);;) {
    TRY_ASSIGN(const std::size_t n, source.read_at(offset, block));
    if (n == 0) return target.close();
    TRY(target.write({block.data(), n}));
    offset += n;
  }
}

}  // namespace entrain
