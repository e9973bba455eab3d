// SPDX-License-Identifier: BSD-3-Clause
#include "formats/parts/part_file.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/file_mark.hpp"
#include "base/text_hash.hpp"
#include "base/try.hpp"
#include "formats/json/text_file.hpp"
#include "formats/parts/fields.hpp"

namespace entrain::parts {

namespace fs = std::filesystem;

namespace {

/// Rises with every change of the contents: steps of several versions do not fit together.
constexpr unsigned k_version = 4;
constexpr std::size_t k_piece = std::size_t{1} << 16;  ///< bytes packed at once
constexpr std::size_t k_longest_line = 200;            ///< bytes of the first line
constexpr std::size_t k_sum = 8;                       ///< bytes of the checksum

std::string_view line_of(Kind kind) {
  return kind == Kind::summary ? "entrain summary " : "entrain clocks ";
}

/// Advice about a file that is of no use.
const char* remedy_of(Kind kind) {
  return kind == Kind::summary ? "summarise its part again" : "fit the clocks again";
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

PartWriter::PartWriter(Kind kind, Sink sink)
    : sink_(std::move(sink)),
      packer_(json::Packer::make(json::Packing::zstd)),
      line_(fmt::format("{}{} {}\n", line_of(kind), k_version, file_mark())),
      hash_(fnv1a(std::string_view())) {}

Result<void> PartWriter::pack(std::string_view content, bool last) {
  if (!line_.empty()) TRY(sink_(std::exchange(line_, {})));
  std::vector<std::uint8_t> piece(k_piece);
  for (auto state = json::Packer::State::more; state == json::Packer::State::more;) {
    std::span<std::uint8_t> room(piece);
    state = packer_->pack(content, last, room);
    const std::string_view packed(reinterpret_cast<const char*>(piece.data()),
                                  piece.size() - room.size());
    hash_ = fnv1a(packed, hash_);
    TRY(sink_(packed));
  }
  return {};
}

Result<void> PartWriter::close() {
  TRY(pack({}, true));
  FieldWriter sum;
  sum.hash(hash_);
  return sink_(sum.take());
}

std::string file_text(Kind kind, std::string_view content) {
  std::string text;
  PartWriter writer(kind, [&](std::string_view more) -> Result<void> {
    text += more;
    return {};
  });
  (void)writer.write(content);  // a text takes all
  (void)writer.close();
  return text;
}

Result<std::string> content_of(Kind kind, const fs::path& file) {
  const std::string name = file.string();
  const char* const what = kind == Kind::summary ? "summary" : "file of fitted clocks";
  TRY_ASSIGN(const std::string line, first_line(file));
  if (!line.starts_with(line_of(kind))) {
    return input_error("{} is no {}, as entrain {} writes them", name, what,
                       kind == Kind::summary ? "summarise" : "fit");
  }
  std::string_view number = std::string_view(line).substr(line_of(kind).size());
  number = number.substr(0, number.find(' '));
  if (number != std::to_string(k_version)) {
    return input_error(
        "{} is a {} of version {}, and this entrain knows version {}: run all steps with one "
        "entrain",
        name, what, number, k_version);
  }
  TRY_ASSIGN(const std::vector<std::uint8_t> bytes, read_file(file, json::k_most_text));
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string_view body = all.substr(std::min(line.size() + 1, all.size()));
  const auto cut = [&] { return input_error("{} is cut off: {}", name, remedy_of(kind)); };
  if (body.size() < k_sum) return cut();
  const std::string_view stream = body.substr(0, body.size() - k_sum);
  const std::uint64_t most = json::most_unpacked(body.size());
  std::string content;
  const auto state = json::unpack(json::Packing::zstd, stream, most + 1, content);
  if (state == json::Unpacker::State::more && content.size() <= most) return cut();
  std::uint64_t hash = 0;
  FieldReader(body.substr(stream.size())).hash(hash);
  const bool is_whole = state == json::Unpacker::State::end_of_stream && content.size() <= most &&
                        hash == fnv1a(stream);
  if (is_whole) return content;
  return input_error("{} is damaged: {}", name, remedy_of(kind));
}

}  // namespace entrain::parts
