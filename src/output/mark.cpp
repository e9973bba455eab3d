// SPDX-License-Identifier: BSD-3-Clause
#include "output/mark.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <zlib.h>

#include <entrain/entrain.hpp>

#include "base/file.hpp"
#include "base/try.hpp"

namespace entrain {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t k_digits = 8, k_longest_version = 32;
constexpr const char* k_attribute = "user.entrain.result";
constexpr std::string_view k_zeros = "00000000";
constexpr std::string_view k_hex = "0123456789abcdef";
/// Bytes of the largest mark of a folder that is read: some million names.
constexpr std::uint64_t k_largest_mark = std::uint64_t{256} << 20;
constexpr std::string_view k_unfinished = "unfinished\n", k_replacing = "replacing\n";
constexpr std::string_view k_finished =
    "A result. --force replaces this folder unless something in it was added or changed.\n";
constexpr std::string_view k_unproven = "unproven\n";

/// Position of the digits of the first mark in `head`; npos: there is none.
std::size_t digits_in(std::string_view head) {
  const std::size_t begin = head.find(k_mark_begin);
  if (begin == head.npos) return begin;
  const std::size_t version = begin + k_mark_begin.size();
  const std::size_t end = head.find(k_mark_middle, version);
  if (end == head.npos || end - version > k_longest_version) return head.npos;
  const std::size_t digits = end + k_mark_middle.size();
  const std::string_view text = head.substr(digits, k_digits);
  const bool are_digits = text.size() == k_digits && text.find_first_not_of(k_hex) == text.npos;
  return are_digits ? digits : head.npos;
}

std::uint32_t add_to_crc(std::uint32_t crc, std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string_view text_of(const std::vector<std::uint8_t>& bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

/// A line of the mark of a folder: "12 traces.otf2", "folder traces", "link traces/0.evt".
std::string line_of(const fs::directory_entry& entry, const fs::path& folder,
                    const struct stat& status) {
  std::string line = S_ISDIR(status.st_mode)   ? "folder "
                     : S_ISLNK(status.st_mode) ? "link "
                     : S_ISREG(status.st_mode) ? fmt::format("{} ", status.st_size)
                                               : "special ";
  for (const char c : entry.path().lexically_relative(folder).string()) {
    if (c == '\n') {
      line += "\\n";
    } else {
      line.append(c == '\\' ? 2 : 1, c);
    }
  }
  return line += '\n';
}

/// Time of the last change: seconds and nanoseconds since 1970.
std::pair<std::int64_t, std::int64_t> changed(const struct stat& status) {
  return {status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

/// Calls `visit` for everything in a folder but its mark, with the line of the mark and what the
/// system says of it. Returns why that failed, or what `visit` does.
template <class Visit>
Result<void> visit_entries(const fs::path& folder, const Visit& visit) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it.depth() == 0 && it->path().filename() == k_folder_mark) continue;
    struct stat status {};
    if (::lstat(it->path().c_str(), &status) != 0) {
      return output_error("{} cannot be looked at", it->path().string());
    }
    TRY(visit(it->path(), line_of(*it, folder, status), status));
  }
  if (error) {
    return output_error("{} cannot be read: {}", folder.string(), error.message());
  }
  return {};
}

/// The text of a mark with a last line that tells whether somebody edited it.
std::string sealed(std::string text) {
  const std::uint32_t crc = add_to_crc(0, text);
  return text += fmt::format("crc32 {:08x}\n", crc);
}

/// The text of a mark without its last line; "" if that does not fit.
std::string_view unsealed(std::string_view mark) {
  const std::size_t line = std::string_view("crc32 \n").size() + k_digits;
  const std::string_view text = mark.substr(0, mark.size() - std::min(mark.size(), line));
  return sealed(std::string(text)) == mark ? text : std::string_view();
}

/// Content of a file by its bytes.
struct Checksum {
  std::uint64_t bytes = 0;
  std::uint32_t whole = 0;  ///< CRC-32
  std::uint32_t crc = 0;    ///< the same with zeros for the digits of its mark
  std::string digits{};     ///< digits of the mark; "" if it has none
  std::size_t digits_at = 0;
};

Result<Checksum> checksum_of(const fs::path& path) {
  const auto file = File::open_for_reading(path);
  if (!file) return output_error("it cannot be read");
  constexpr std::size_t k_block = std::size_t{1} << 20;
  std::vector<std::uint8_t> block(k_block);
  Checksum sum;
  for (;;) {
    const auto size = file->read_at(sum.bytes, block);
    if (!size) return output_error("it cannot be read");
    if (*size == 0) return sum;
    sum.whole = add_to_crc(sum.whole, text_of(block, *size));
    if (sum.bytes == 0) {
      const std::string_view head = text_of(block, std::min(*size, k_mark_reach));
      if (const std::size_t digits = digits_in(head); digits != head.npos) {
        sum.digits = head.substr(digits, k_digits);
        sum.digits_at = digits;
        std::ranges::copy(k_zeros, block.begin() + static_cast<std::ptrdiff_t>(digits));
      }
    }
    sum.crc = sum.digits.empty() ? sum.whole : add_to_crc(sum.crc, text_of(block, *size));
    sum.bytes += *size;
  }
}

std::string title() { return fmt::format("entrain {}\n", version()); }

Result<void> write_mark(const fs::path& folder, std::string_view text) {
  const fs::path path = folder / k_folder_mark;
  std::error_code ignored;
  fs::remove(path, ignored);
  return write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

/// The mark of a folder without its first line; "" if it has none.
std::string read_mark(const fs::path& folder) {
  const auto bytes = read_file(folder / k_folder_mark, k_largest_mark);
  if (!bytes) return {};
  const std::string_view text = unsealed(text_of(*bytes, bytes->size()));
  const std::size_t first = text.find('\n');
  if (!text.starts_with("entrain ") || first == text.npos) return {};
  return std::string(text.substr(first + 1));
}

}  // namespace

Result<void> complete_mark(const fs::path& path) {
  const Result<Checksum> sum = checksum_of(path);
  if (!sum) return output_error("cannot write {}: it cannot be read back", path.string());
  if (sum->digits != open_mark_digits()) return {};
  const std::string digits = fmt::format("{:08x}", sum->crc);
  TRY_ASSIGN(File file, File::open_for_writing(path));
  TRY(file.write_at(sum->digits_at,
                    {reinterpret_cast<const std::uint8_t*>(digits.data()), k_digits}));
  return file.close();
}

Result<void> mark_unfinished(const fs::path& folder) {
  return write_mark(folder, sealed(title() + std::string(k_unfinished)));
}

Result<void> mark_finished(const fs::path& folder, bool unproven) {
  std::set<std::string> lines;
  struct stat newest {};  // of all files
  TRY(visit_entries(
      folder, [&](const fs::path&, std::string line, const struct stat& status) -> Result<void> {
        lines.insert(std::move(line));
        if (S_ISREG(status.st_mode) && changed(status) > changed(newest)) newest = status;
        return {};
      }));
  std::string text = title() + std::string(k_finished);
  if (unproven) text += k_unproven;
  for (const std::string& line : lines) text += line;
  TRY(write_mark(folder, sealed(std::move(text))));
  // Another machine, whose clock is fast, may have written a file: nothing is newer than the mark.
  const fs::path path = folder / k_folder_mark;
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || changed(status) >= changed(newest)) return {};
  const std::array<struct timespec, 2> times{newest.st_mtim, newest.st_mtim};
  ::utimensat(AT_FDCWD, path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
  return {};
}

Result<void> mark_replacing(const fs::path& folder) {
  return write_mark(folder, sealed(title() + std::string(k_replacing)));
}

bool is_unfinished(const fs::path& folder) { return read_mark(folder) == k_unfinished; }
bool is_replacing(const fs::path& folder) { return read_mark(folder) == k_replacing; }

void mark_file(const fs::path& path, bool unproven) {
  const Result<Checksum> sum = checksum_of(path);
  if (!sum) return;
  const std::string mark = fmt::format("{}{}{}{:08x}{}", k_mark_begin, version(), k_mark_middle,
                                       sum->whole, unproven ? k_unproven : "");
  ::setxattr(path.c_str(), k_attribute, mark.data(), mark.size(), 0);
}

namespace {

/// The mark that the file system keeps with a file; "" if there is none.
std::string attribute_of(const fs::path& path) {
  std::string mark(k_mark_reach, '\0');
  const ssize_t size = ::lgetxattr(path.c_str(), k_attribute, mark.data(), mark.size());
  mark.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return mark;
}

}  // namespace

Result<void> check_own_file(const fs::path& path) {
  TRY_ASSIGN(const Checksum inside, checksum_of(path));
  if (inside.bytes == 0) return {};
  const std::string mark = attribute_of(path);
  const std::size_t digits = digits_in(mark);
  if (inside.digits.empty() && digits == mark.npos) {
    return output_error("it has no mark of a result of entrain");
  }
  const bool is_unchanged =
      inside.digits == fmt::format("{:08x}", inside.crc) ||
      (digits != mark.npos && mark.substr(digits, k_digits) == fmt::format("{:08x}", inside.whole));
  if (is_unchanged) return {};
  return output_error("it was changed after entrain had written it");
}

Result<void> check_own_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::is_empty(folder, error) && !error) return {};
  const std::string mark = read_mark(folder);
  struct stat status {};
  if (!mark.starts_with(k_finished) || ::lstat((folder / k_folder_mark).c_str(), &status) != 0) {
    return output_error("it has no mark of a result of entrain");
  }
  std::set<std::string_view> lines;
  for (std::size_t at = k_finished.size(); at < mark.size();) {
    const std::size_t end = std::min(mark.find('\n', at), mark.size() - 1) + 1;
    lines.insert(std::string_view(mark).substr(at, end - at));
    at = end;
  }
  return visit_entries(
      folder,
      [&](const fs::path& path, const std::string& line, const struct stat& entry) -> Result<void> {
        const bool is_as_it_was = !S_ISREG(entry.st_mode) || changed(entry) <= changed(status);
        if (lines.contains(line) && is_as_it_was) return {};
        return output_error("{} was added or changed after entrain had written it", path.string());
      });
}

bool any_unproven(std::span<const fs::path> paths) {
  std::map<fs::path, std::string> marks;
  const auto says_so = [&](const fs::path& folder, std::string_view line) {
    const auto [mark, is_new] = marks.try_emplace(folder);
    if (is_new) mark->second = read_mark(folder);
    const std::string start = std::string(k_finished) + std::string(k_unproven);
    return mark->second.starts_with(start) &&
           mark->second.find(line, start.size() - 1) != line.npos;
  };
  return std::ranges::any_of(paths, [&](const fs::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return false;
    if (S_ISDIR(status.st_mode)) return says_so(path, "");
    const std::string own = attribute_of(path);
    if (!own.empty()) return own.ends_with(k_unproven) && check_own_file(path);
    return says_so(path.parent_path(),
                   fmt::format("\n{} {}\n", status.st_size, path.filename().string()));
  });
}

}  // namespace entrain
