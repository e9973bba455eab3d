// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/recorder_table.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"

namespace entrain::clocks {

namespace {

constexpr std::uint64_t k_largest_table = std::uint64_t{64} << 30;  ///< bytes
constexpr std::size_t k_longest_line = std::size_t{64} << 10;       ///< bytes
constexpr std::size_t k_block = std::size_t{256} << 10;             ///< bytes; read at a time

/// The lines of a file, without their ends; the last one need not have one.
class Lines {
 public:
  explicit Lines(File file) : file_(std::move(file)), block_(k_block) {}

  /// Puts the next line into `line`; false at the end of the file. Errors: ErrorKind::input, also
  /// for a line of more than k_longest_line bytes.
  Result<bool> next(std::string& line) {
    line.clear();
    while (true) {
      if (at_ == size_) {
        TRY_ASSIGN(size_, file_.read_at(offset_, block_));
        offset_ += size_;
        at_ = 0;
        if (size_ == 0) return !line.empty();
      }
      const auto* const begin = reinterpret_cast<const char*>(block_.data()) + at_;
      const auto* const end = begin + (size_ - at_);
      const auto* const mark = std::find(begin, end, '\n');
      const auto count = static_cast<std::size_t>(mark - begin);
      if (line.size() + count > k_longest_line) {
        return input_error("{} has a line of more than {} bytes", file_.path().string(),
                           k_longest_line);
      }
      line.append(begin, count);
      at_ += count + (mark == end ? 0 : 1);
      if (mark != end) return true;
    }
  }

 private:
  File file_;
  std::vector<std::uint8_t> block_;
  std::size_t at_ = 0, size_ = 0;  ///< position in the block, and its size
  std::uint64_t offset_ = 0;       ///< offset of the next block in the file
};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t comma = line.find(',');
    words.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return words;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<void> read_recorder_table(const std::filesystem::path& path, const RecorderTable& table,
                                 const std::function<std::string_view(RecorderRow)>& row) {
  const std::size_t columns = words_of(table.columns).size();
  std::uint64_t number = 0;
  const auto refuse = [&](std::string_view why) {
    return input_error("{}, line {}: {}; {}", path.string(), number, why, table.remedy);
  };
  const auto advise = [&](const Error& error) {
    return fail(error.kind, fmt::format("{}; {}", error.message, table.remedy));
  };
  auto file = File::open_for_reading(path, k_largest_table);
  if (!file) return advise(file.error());
  Lines lines(std::move(*file));
  bool head = false;
  for (std::string line;;) {
    const auto more = lines.next(line);
    if (!more) return advise(more.error());
    if (!*more) break;
    ++number;
    if (line.starts_with('#')) continue;
    if (!head) {
      if (line != table.columns) return refuse("these are not the columns of the recorder");
      head = true;
      continue;
    }
    const std::vector<std::string_view> words = words_of(line);
    const std::string_view why = words.size() == columns ? row(words) : table.no_row;
    if (!why.empty()) return refuse(why);
  }
  if (head) return {};
  return advise(
      {ErrorKind::input, fmt::format("{} ends before the names of its columns", path.string())});
}

}  // namespace entrain::clocks
