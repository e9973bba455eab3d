// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include <entrain/error.hpp>

#include "formats/json/text_file.hpp"

namespace entrain::json {

/// Sliding window over the text of a file. Takes less than 1 MB of memory, unless the reader keeps
/// a longer piece, of up to k_most_kept bytes. One thread at a time may use it.
///
/// Example: text() is `{"a": 1}, {"b"` and ended() is false. After advance(10) it begins with
/// `{"b"` and continues with the text that follows in the file.
class Window {
 public:
  static constexpr std::size_t k_most_kept = std::size_t{1} << 30;

  /// Errors, here and in advance(): those of TextReader, of check_memory_room(), and
  /// ErrorKind::input for what is no UTF-8.
  static Result<Window> open(const std::filesystem::path& path, std::uint64_t max_unpacked = 0,
                             Content content = Content::text);

  /// The text in the window: whole characters, unless the file ends inside one. Valid until the
  /// next advance().
  [[nodiscard]] std::string_view text() const { return {bytes_.data(), checked_}; }
  /// Position of text() in the text of the file, bytes.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  /// True if text() reaches the end of the file.
  [[nodiscard]] bool ended() const { return ended_; }
  /// Drops the first `done` bytes of text() and reads the next piece; more pieces if the kept text
  /// is larger than one, so that repeated attempts take linear time.
  Result<void> advance(std::size_t done);

  [[nodiscard]] Packing packing() const { return reader_.packing(); }
  [[nodiscard]] std::uint64_t limit() const { return reader_.limit(); }
  [[nodiscard]] bool cut() const { return reader_.cut(); }
  /// Size, bytes, and hash of the whole text; valid at the end.
  [[nodiscard]] std::uint64_t total() const { return offset_ + size_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  Window(std::filesystem::path path, TextReader reader, Content content)
      : path_(std::move(path)), reader_(std::move(reader)), content_(content) {}
  Result<void> check_encoding();

  std::filesystem::path path_;
  TextReader reader_;
  Content content_;
  std::vector<char> bytes_;
  std::size_t size_ = 0;     ///< bytes that were read
  std::size_t checked_ = 0;  ///< bytes of whole UTF-8 characters
  std::uint64_t offset_ = 0, hash_ = 0;
  bool ended_ = false;
};

}  // namespace entrain::json
