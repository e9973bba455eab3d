// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include <entrain/error.hpp>

namespace entrain::json {

/// The largest text that is read, bytes.
inline constexpr std::uint64_t k_most_text = std::uint64_t{1} << 36;

/// A packed file of `size` bytes whose reader names no limit may hold no more than k_most_text, and
/// so many times its size: profilers' files hold 10 to 30 times, and a file that is made to fill
/// the memory up to 1,030 times. What is smaller than k_any_ratio fills none.
inline constexpr std::uint64_t k_most_ratio = 250;
inline constexpr std::uint64_t k_any_ratio = std::uint64_t{1} << 28;
std::uint64_t most_unpacked(std::uint64_t size);

/// What a reader says of a file that is no UTF-8.
tl::unexpected<Error> no_utf8(const std::filesystem::path& path);

/// The text without the begin of a character at its end whose rest is missing.
std::string_view whole_characters(std::string_view text);

/// Reads the text of a regular file from begin to end, plain or as gzip packs it; which of the two
/// is told by its first two bytes, not by the name. One thread at a time may use it.
class TextReader {
 public:
  /// `max_unpacked`: the most bytes that are unpacked; 0: most_unpacked(). Errors: ErrorKind::input
  /// for a file that cannot be read or is larger than k_most_text.
  static Result<TextReader> open(const std::filesystem::path& path, std::uint64_t max_unpacked = 0);
  TextReader(TextReader&&) noexcept;
  TextReader& operator=(TextReader&&) noexcept;
  ~TextReader();

  /// Fills `room`, at most 1 GiB, with what comes next; returns how many bytes that were: fewer
  /// than it takes only at the end. Errors: ErrorKind::input for a gzip stream that is damaged or
  /// holds too much.
  Result<std::size_t> read(std::span<char> room);
  [[nodiscard]] bool packed() const;
  /// The file ended inside its gzip stream: what was packed until then is the text.
  [[nodiscard]] bool cut() const;
  /// What read() refused is what the file holds, and not that the system could not read it.
  [[nodiscard]] bool damaged() const;

 private:
  struct Source;
  explicit TextReader(std::unique_ptr<Source> source);
  std::unique_ptr<Source> source_;
};

/// Writes the text of a new file from begin to end, packed if asked for; the same text gives the
/// same bytes. One thread at a time may use it.
class TextWriter {
 public:
  /// `path` must not exist. Errors: ErrorKind::output, here and below.
  static Result<TextWriter> create(const std::filesystem::path& path, bool packed);
  TextWriter(TextWriter&&) noexcept;
  TextWriter& operator=(TextWriter&&) noexcept;
  ~TextWriter();

  Result<void> write(std::string_view text);
  /// Must be called: only then the file is whole.
  Result<void> close();

 private:
  struct Target;
  explicit TextWriter(std::unique_ptr<Target> target);
  std::unique_ptr<Target> target_;
};

}  // namespace entrain::json
