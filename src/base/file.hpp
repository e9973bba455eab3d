// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <entrain/error.hpp>

namespace entrain {

/// An open file, closed on destruction. Movable, not copyable.
class File {
 public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)),
        size_when_opened_(other.size_when_opened_),
        written_(other.written_),
        path_(std::move(other.path_)) {}
  File& operator=(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  /// A limit that every file keeps.
  static constexpr std::uint64_t k_any_size = ~std::uint64_t{0};
  /// Opens a regular file of at most `limit` bytes for reading; never waits for a pipe or a device.
  /// Errors: ErrorKind::input, naming the file and the reason.
  static Result<File> open_for_reading(const std::filesystem::path& path,
                                       std::uint64_t limit = k_any_size);
  /// Creates a new file for writing; it must not exist. Errors: ErrorKind::output.
  static Result<File> create(const std::filesystem::path& path);
  /// Opens an existing file for write_at(). Errors: ErrorKind::output.
  static Result<File> open_for_writing(const std::filesystem::path& path);

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Size in bytes that a file had when open_for_reading() opened it.
  [[nodiscard]] std::uint64_t size_when_opened() const { return size_when_opened_; }
  /// Reads up to `bytes.size()` bytes at `offset`; returns how many there were (short at the end).
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) const;
  /// Writes all of `bytes` at the end. Errors: ErrorKind::output (no space, ...).
  Result<void> write(std::span<const std::uint8_t> bytes);
  /// Writes all of `bytes` at `offset`; may be called from several threads. Errors as above.
  Result<void> write_at(std::uint64_t offset, std::span<const std::uint8_t> bytes) const;
  /// Closes and reports a late write error. Errors: ErrorKind::output.
  Result<void> close();

 private:
  int descriptor_ = -1;
  std::uint64_t size_when_opened_ = 0;
  std::uint64_t written_ = 0;  ///< bytes, by write()
  std::filesystem::path path_;
};

/// Whole contents of a file of at most `limit` bytes. Errors: ErrorKind::input.
Result<std::vector<std::uint8_t>> read_file(const std::filesystem::path& path, std::uint64_t limit);

/// Creates `path` with these contents. Errors: ErrorKind::output.
Result<void> write_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);

/// Writes a piece of a file that is open only meanwhile, so that a process can write more files
/// than it may have open: the piece at `offset` 0 creates it. Errors: ErrorKind::output.
Result<void> write_piece(const std::filesystem::path& path, std::uint64_t offset,
                         std::span<const std::uint8_t> bytes);

/// Copies a file byte for byte, inside the kernel where the file systems allow it; holes stay
/// holes. `to` must not exist. Errors: ErrorKind::input if `from` cannot be read, otherwise
/// ErrorKind::output.
Result<void> duplicate_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// True if something has this name, even a link that leads nowhere. Also true if the system does
/// not say (no permission to look): opening the file then gives the reason.
bool file_exists(const std::filesystem::path& path);

/// "No such file or directory" and the like, for messages.
std::string reason(int error_number);

}  // namespace entrain
