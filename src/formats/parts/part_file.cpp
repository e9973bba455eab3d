// SPDX-License-Identifier: BSD-3-Clause
#include "formats/parts/part_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <span>
#include <vector>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/file_mark.hpp"
#include "base/fnv.hpp"
#include "base/try.hpp"
#include "formats/json/packing.hpp"
#include "formats/json/text_file.hpp"
#include "formats/parts/fields.hpp"

namespace entrain::parts {

namespace fs = std::filesystem;

namespace {

/// Rises with every change of the contents: steps of several versions do not fit together.
constexpr unsigned k_version = 2;
constexpr std::size_t k_piece = std::size_t{1} << 16;  ///< bytes packed or unpacked at once
constexpr std::size_t k_longest_line = 200;            ///< bytes of the first line

std::string_view line_of(Kind kind) {
  return kind == Kind::summary ? "entrain summary " : "entrain clocks ";
}

/// What to do about a file that is of no use.
const char* remedy_of(Kind kind) {
  return kind == Kind::summary ? "summarise its part again" : "fit the clocks again";
}

std::string packed(std::string_view content) {
  const auto packer = json::Packer::make(json::Packing::zstd);
  std::string text;
  std::vector<std::uint8_t> piece(k_piece);
  for (auto state = json::Packer::State::more; state == json::Packer::State::more;) {
    std::span<std::uint8_t> room(piece);
    state = packer->pack(content, true, room);
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size() - room.size());
  }
  return text;
}

/// Empty if it is damaged or longer than `most` bytes.
std::string unpacked(std::span<const std::uint8_t> packed, std::uint64_t most) {
  const auto unpacker = json::Unpacker::make(json::Packing::zstd);
  std::string text;
  std::vector<char> piece(k_piece);
  for (;;) {
    std::span<char> room(piece);
    const auto state = unpacker->unpack(packed, room);
    const std::size_t size = piece.size() - room.size();
    text.append(piece.data(), size);
    const bool is_stuck = state == json::Unpacker::State::more && packed.empty() && size == 0;
    if (state == json::Unpacker::State::damaged || is_stuck || text.size() > most) return "";
    if (state == json::Unpacker::State::end_of_stream) return text;
  }
}

Result<std::string> first_line(const fs::path& file) {
  TRY_ASSIGN(const File opened, File::open_for_reading(file));
  std::array<std::uint8_t, k_longest_line> bytes{};
  TRY_ASSIGN(const std::size_t size, opened.read_at(0, bytes));
  const std::string text(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
  return text.substr(0, text.find('\n'));
}

}  // namespace

bool is_of(Kind kind, const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return false;
  const Result<std::string> line = first_line(file);
  return line && line->starts_with(line_of(kind));
}

std::string file_text(Kind kind, std::string_view content) {
  const std::string body = packed(content);
  FieldWriter sum;
  sum.hash(body.size());
  sum.hash(fnv1a(body));
  return fmt::format("{}{} {}\n{}{}", line_of(kind), k_version, file_mark(), sum.take(), body);
}

Result<std::string> content_of(Kind kind, const fs::path& file) {
  const std::string name = file.string();
  const char* const what = kind == Kind::summary ? "summary" : "file of fitted clocks";
  TRY_ASSIGN(const std::string line, first_line(file));
  if (!line.starts_with(line_of(kind))) {
    return fail(ErrorKind::input, fmt::format("{} is no {}, as entrain {} writes them", name, what,
                                              kind == Kind::summary ? "summarise" : "fit"));
  }
  std::string_view number = std::string_view(line).substr(line_of(kind).size());
  number = number.substr(0, number.find(' '));
  unsigned version = 0;
  std::from_chars(number.data(), number.data() + number.size(), version);
  if (version != k_version) {
    return fail(ErrorKind::input,
                fmt::format("{} is a {} of version {}, and this entrain knows version {}: run all "
                            "steps with one entrain",
                            name, what, number, k_version));
  }
  TRY_ASSIGN(const std::vector<std::uint8_t> bytes, read_file(file, json::k_most_text));
  std::span<const std::uint8_t> rest =
      std::span(bytes).subspan(std::min(line.size() + 1, bytes.size()));
  constexpr std::size_t k_sums = 16;  // bytes
  std::uint64_t size = 0, hash = 0;
  const std::string_view sums(reinterpret_cast<const char*>(rest.data()),
                              std::min(rest.size(), k_sums));
  FieldReader reader(sums);
  reader.hash(size);
  reader.hash(hash);
  rest = rest.subspan(sums.size());
  if (!reader.fine() || rest.size() < size) {
    return fail(ErrorKind::input, fmt::format("{} is cut off: {}", name, remedy_of(kind)));
  }
  std::string content;
  if (rest.size() == size && fnv1a(rest) == hash) {
    content = unpacked(rest, json::most_unpacked(size));
  }
  if (!content.empty()) return content;
  return fail(ErrorKind::input, fmt::format("{} is damaged: {}", name, remedy_of(kind)));
}

}  // namespace entrain::parts
