// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <system_error>

#include <entrain/error.hpp>

namespace entrain::clocks {

/// A table that the recorder left beside an archive: lines that begin with '#', the names of the
/// columns, then rows of as many words, separated by commas.
struct RecorderTable {
  std::string_view columns;  ///< "rank,host"
  std::string_view no_row;   ///< what is said of a line that is no row
  std::string_view remedy;   ///< what the user can do about an error
};

using RecorderRow = std::span<const std::string_view>;

/// Reads one word as each of the numbers. False if a word is no such number.
template <class... Numbers>
bool read_numbers(RecorderRow words, Numbers&... numbers) {
  const auto* word = words.data();
  const auto read = [&](auto& number) {
    const char* const last = word->data() + word->size();
    const auto [end, error] = std::from_chars(word->data(), last, number);
    ++word;
    return error == std::errc() && end == last;
  };
  return (read(numbers) && ...);
}

/// Calls `row` with every row; it returns the problem with it, or "".
///
/// Errors: ErrorKind::input with the file, the line if there is one, the problem and the remedy,
/// also for what is no regular file, a file of more than 64 GiB and a line of more than 64 KiB.
Result<void> read_recorder_table(const std::filesystem::path& path, const RecorderTable& table,
                                 const std::function<std::string_view(RecorderRow)>& row);

}  // namespace entrain::clocks
