// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include <entrain/error.hpp>

#include "json/text_file.hpp"

namespace entrain::json {

/// The part of a file's text that is in memory while a reader goes from its begin to its end. Takes
/// less than 1 MB whatever the file's size, unless the reader keeps a longer piece whole, which may
/// have k_most_kept bytes. One thread at a time may use it.
///
/// Example: text() is `{"a": 1}, {"b"` and ended() is false. After advance(10) it begins with
/// `{"b"`, and what follows in the file stands behind that.
class Window {
 public:
  static constexpr std::size_t k_most_kept = std::size_t{1} << 30;

  /// Errors, here and in advance(): those of TextReader, of check_memory_room(), and
  /// ErrorKind::input for what is no UTF-8.
  static Result<Window> open(const std::filesystem::path& path, std::uint64_t max_unpacked = 0);

  /// Whole characters, unless the file ends inside one. Valid until the next advance().
  [[nodiscard]] std::string_view text() const { return {bytes_.data(), checked_}; }
  /// Where text() begins in the text of the file.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  /// text() reaches the end of the file.
  [[nodiscard]] bool ended() const { return ended_; }
  /// Gives up the first `done` bytes of text() and reads on: a piece, or more if what is kept is
  /// larger than one, so that a reader who tries again and again takes linear time.
  Result<void> advance(std::size_t done);

  [[nodiscard]] bool packed() const { return reader_.packed(); }
  [[nodiscard]] bool cut() const { return reader_.cut(); }
  /// Of the whole text, when it has ended: its bytes, and a hash of them.
  [[nodiscard]] std::uint64_t total() const { return offset_ + size_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  Window(std::filesystem::path path, TextReader reader)
      : path_(std::move(path)), reader_(std::move(reader)) {}
  Result<void> check_encoding();

  std::filesystem::path path_;
  TextReader reader_;
  std::vector<char> bytes_;
  std::size_t size_ = 0;     ///< bytes that were read; behind them is room
  std::size_t checked_ = 0;  ///< those that are whole characters of UTF-8
  std::uint64_t offset_ = 0, hash_ = 0;
  bool ended_ = false;
};

}  // namespace entrain::json
