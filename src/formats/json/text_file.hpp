// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <entrain/error.hpp>

#include "base/file.hpp"
#include "formats/json/packing.hpp"

namespace entrain::json {

/// The largest text that is read, bytes.
inline constexpr std::uint64_t k_most_text = std::uint64_t{1} << 36;

/// Default limits of a packed file of `size` bytes: k_most_text, and k_most_ratio times its size.
/// Profilers' files unpack to 10 to 30 times, a file made to fill the memory to up to 1,030 times.
/// Up to k_any_ratio bytes any ratio is allowed.
inline constexpr std::uint64_t k_most_ratio = 250;
inline constexpr std::uint64_t k_any_ratio = std::uint64_t{1} << 28;
std::uint64_t most_unpacked(std::uint64_t size);

/// Contents of a file: bytes need not be UTF-8.
enum class Content : std::uint8_t { text, bytes };

/// Error for a file that is no UTF-8.
tl::unexpected<Error> no_utf8(const std::filesystem::path& path);

/// True for the beginning of a text in UTF-16, with a byte order mark or two characters of ASCII.
bool is_utf16(std::string_view text);
/// Error for such a file.
tl::unexpected<Error> no_utf16(const std::filesystem::path& path);

/// The text without an incomplete character at its end.
std::string_view whole_characters(std::string_view text);

/// Reads the text of a file from begin to end; the first bytes, not the name, decide whether it is
/// packed. One thread at a time may use it.
class TextReader {
 public:
  /// `max_unpacked`: the most bytes that are unpacked; 0: most_unpacked(). Errors: ErrorKind::input
  /// for a file that cannot be read or is larger than k_most_text.
  static Result<TextReader> open(const std::filesystem::path& path, std::uint64_t max_unpacked = 0);
  /// Fills `buffer`, at most 1 GiB, with the next bytes; returns their number, smaller than the
  /// buffer only at the end. Errors: ErrorKind::input for a packed stream that is damaged, too
  /// large, or cut before anything of it can be unpacked, and for UTF-16.
  Result<std::size_t> read(std::span<char> buffer);
  [[nodiscard]] Packing packing() const { return packing_; }
  /// Limit of unpacked bytes.
  [[nodiscard]] std::uint64_t limit() const { return most_; }
  /// True if the file ended inside a packed stream; the text ends there.
  [[nodiscard]] bool cut() const { return cut_; }
  /// True if read() failed because of the contents of the file, not of the system.
  [[nodiscard]] bool damaged() const { return is_damaged_; }

 private:
  explicit TextReader(File file) : file_(std::move(file)) {}
  [[nodiscard]] tl::unexpected<Error> damage();
  Result<bool> refill();
  Result<bool> next_stream();
  Result<std::size_t> unpack(std::span<char> buffer);

  File file_;
  Packing packing_ = Packing::none;
  std::unique_ptr<Unpacker> unpacker_;  ///< null: the file is plain
  bool ended_ = false, cut_ = false, is_damaged_ = false;
  Unpacker::State state_ = Unpacker::State::more;
  std::vector<std::uint8_t> piece_;
  std::span<const std::uint8_t> rest_;  ///< packed bytes of the piece that are left
  std::uint64_t at_ = 0;                ///< position in the file
  std::uint64_t given_ = 0;             ///< bytes that were unpacked
  std::uint64_t most_ = 0;              ///< limit of unpacked bytes
};

/// Writes the text of a new file from begin to end, packed as asked for; the same text gives the
/// same bytes. One thread at a time may use it.
class TextWriter {
 public:
  /// `path` must not exist. Errors: ErrorKind::output, here and below.
  static Result<TextWriter> create(const std::filesystem::path& path, Packing packing);
  Result<void> write(std::string_view text);
  /// Must be called to complete the file.
  Result<void> close();

 private:
  TextWriter(File file, Packing packing);
  Result<void> pack(std::string_view text, bool last);

  File file_;
  std::unique_ptr<Packer> packer_;  ///< null: the file is plain
  std::vector<std::uint8_t> piece_;
};

}  // namespace entrain::json
