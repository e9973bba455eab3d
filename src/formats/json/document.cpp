// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/document.hpp"

#include <algorithm>

#include "base/memory_room.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"

namespace entrain::json {
namespace {

constexpr std::size_t k_piece = std::size_t{1} << 20;
constexpr std::size_t k_room = 64;  // padding after the text, for parsers

}  // namespace

bool is_document_name(const std::filesystem::path& path) {
  return is_named(path, {".json", ".jsonl", ".ndjson"});
}

Result<void> check_utf8(std::string_view text, const std::filesystem::path& path) {
  if (!is_utf8(whole_characters(text))) return no_utf8(path);
  return {};
}

Result<Document> load(const std::filesystem::path& path, std::uint64_t max_unpacked,
                      Content content) {
  TRY_ASSIGN(TextReader reader, TextReader::open(path, max_unpacked));
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  Document document;
  document.packing = reader.packing();
  if (!error) document.text.reserve(std::min<std::uint64_t>(size, k_most_text) + k_piece + k_room);
  for (bool more = true; more;) {
    const std::size_t before = document.text.size(), room = document.text.capacity();
    // A growing string doubles its capacity, and copies the text.
    TRY(check_memory_room(path, before + k_piece > room ? 2 * room : k_piece));
    document.text.resize(before + k_piece);
    TRY_ASSIGN(const std::size_t read, reader.read({document.text.data() + before, k_piece}));
    document.text.resize(before + read);
    more = read == k_piece;
  }
  document.cut = reader.cut();
  if (content == Content::text) TRY(check_utf8(document.text, path));
  return document;
}

Result<std::string> beginning(const std::filesystem::path& path) {
  using std::filesystem::file_type;
  std::error_code error;
  const file_type type = std::filesystem::status(path, error).type();
  if (type != file_type::regular && type != file_type::none) return std::string();
  TRY_ASSIGN(TextReader reader, TextReader::open(path));
  std::string text(k_beginning, '\0');
  const Result<std::size_t> size = reader.read(text);
  if (!size && !reader.damaged()) return tl::unexpected(size.error());
  // Damage: the text ends where the zeros begin, as nothing more could be unpacked.
  text.resize(size ? *size : std::min(text.find('\0'), text.size()));
  return text;
}

Result<void> save(const std::filesystem::path& path, std::string_view text, Packing packing) {
  TRY_ASSIGN(TextWriter writer, TextWriter::create(path, packing));
  TRY(writer.write(text));
  return writer.close();
}

}  // namespace entrain::json
