// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/source_text.hpp"

#include <algorithm>
#include <utility>

#include <protozero/exception.hpp>

#include "base/flat_map.hpp"
#include "base/memory_room.hpp"
#include "base/text_hash.hpp"
#include "base/try.hpp"
#include "formats/json/memory.hpp"
#include "formats/recording.hpp"
#include "formats/spans/packed_messages.hpp"
#include "formats/spans/patch.hpp"
#include "formats/spans/span_table.hpp"

namespace entrain::spans {

namespace fs = std::filesystem;

namespace {

Encoding encoding_of(std::string_view text, std::string_view columns) {
  if (framing_at(text)) return Encoding::protobuf;
  return is_span_table(text.substr(0, json::k_beginning), columns) ? Encoding::csv : Encoding::json;
}

/// Bytes of a text that are read at once.
constexpr std::size_t k_step = std::size_t{1} << 20;
/// Bytes of a piece: a run of some 10,000 spans packs as well as a longer one.
constexpr std::size_t k_piece = std::size_t{1} << 24;

/// The hash of a text that may be read in steps.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0;
  for (; !text.empty(); text.remove_prefix(std::min(k_step, text.size()))) {
    hash = mix(hash + text_hash(text.substr(0, k_step)));
  }
  return hash;
}

/// Reads a text in steps, and hashes it.
class PieceReader {
 public:
  static Result<PieceReader> open(const fs::path& path, std::uint64_t max_unpacked) {
    TRY_ASSIGN(json::TextReader reader, json::TextReader::open(path, max_unpacked));
    return PieceReader(path, std::move(reader));
  }
  /// Appends to a text until it has a size; less at the end only.
  Result<void> fill(std::size_t size, std::string& text) {
    while (!ended_ && text.size() < size) {
      TRY(check_memory_room(path_, k_step));
      const std::size_t before = text.size();
      const std::size_t all = size + k_step + simdjson::SIMDJSON_PADDING;
      if (before >= k_step && text.capacity() < all) {  // a text that grows step by step is copied
        TRY(check_memory_room(path_, all));
        text.reserve(all);
      }
      text.resize(before + k_step);
      TRY_ASSIGN(const std::size_t read, reader_.read({text.data() + before, k_step}));
      text.resize(before + read);
      bytes_ += read;
      ended_ = read < k_step;
      if (read > 0) hash_ = mix(hash_ + text_hash(std::string_view(text).substr(before)));
    }
    return {};
  }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool cut() const { return reader_.cut(); }
  [[nodiscard]] json::Packing packing() const { return reader_.packing(); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  PieceReader(fs::path path, json::TextReader reader)
      : path_(std::move(path)), reader_(std::move(reader)) {}

  fs::path path_;
  json::TextReader reader_;
  std::uint64_t bytes_ = 0, hash_ = 0;
  bool ended_ = false;
};

/// The end of the last whole document; 0: there is none, or the text is damaged.
std::size_t end_of_documents(std::string_view text, std::optional<Framing> framing) {
  if (!framing) return text.rfind('\n') + 1;
  Messages messages(text, *framing);
  try {
    while (messages.next()) continue;
  } catch (const protozero::exception&) {
    return 0;
  }
  return messages.done();
}

}  // namespace

std::optional<Framing> framing_at(std::string_view text) {
  return framing_of(text.substr(0, json::k_beginning));
}

Result<SpanText> load(const fs::path& path, std::uint64_t max_unpacked) {
  TRY_ASSIGN(json::Document plain, json::load(path, max_unpacked, json::Content::bytes));
  SpanText document{std::move(plain), false, {}};
  if (document.packing == json::Packing::none && are_packed_messages(document.text)) {
    const std::uint64_t most =
        max_unpacked > 0 ? max_unpacked : json::most_unpacked(document.text.size());
    TRY_ASSIGN(UnpackedMessages messages, unpack_messages(document.text, most, path));
    document.text = std::move(messages.text);
    document.rest = std::move(messages.rest);
    document.sizes = std::move(messages.sizes);
    document.cut = !document.rest.empty();
    document.by_message = true;
  }
  if (!framing_at(document.text)) TRY(json::check_utf8(document.text, path));
  return document;
}

Result<SpanText> load_again(const SourceFile& file) {
  TRY_ASSIGN(SpanText document, load(file.path, file.max_unpacked));
  if (hash_of(document.text) == file.hash) return document;
  return formats::has_changed(file.path, file.was_summarised);
}

Result<SourceFile> for_each_piece(const fs::path& path, std::uint64_t max_unpacked,
                                  const std::string& columns, const SeePiece& see) {
  TRY_ASSIGN(PieceReader reader, PieceReader::open(path, max_unpacked));
  SpanText piece;
  TextSoFar so_far{.columns = columns};
  TRY(reader.fill(k_piece, piece.text));
  const bool is_packed = reader.packing() == json::Packing::none && are_packed_messages(piece.text);
  const std::optional<Framing> framing = framing_at(piece.text);
  so_far.are_lines = !framing && are_lines(piece.text);
  SourceFile file{{.path = path}, max_unpacked, columns, encoding_of(piece.text, columns)};
  if (is_packed || !(reader.ended() || framing || so_far.are_lines)) {
    TRY_ASSIGN(piece, load(path, max_unpacked));
    file.bytes = piece.text.size();
    file.hash = hash_of(piece.text);
    file.encoding = encoding_of(piece.text, columns);
    file.is_cut = piece.cut;
    TRY(see(piece, so_far));
    return file;
  }
  std::string rest;
  for (std::size_t wanted = k_piece;;) {
    TRY(reader.fill(wanted, piece.text));
    so_far.is_last = reader.ended();
    const std::size_t size =
        so_far.is_last ? piece.text.size() : end_of_documents(piece.text, framing);
    if (size == 0 && !so_far.is_last) {
      wanted *= 2;
      continue;
    }
    wanted = k_piece;
    rest.assign(piece.text, size);
    piece.text.resize(size);
    if (!framing) TRY(json::check_utf8(piece.text, path));
    TRY(see(piece, so_far));
    if (so_far.is_last) break;
    piece.text.assign(rest);  // which keeps its memory
  }
  file.bytes = reader.bytes();
  file.hash = reader.hash();
  file.is_cut = reader.cut();
  return file;
}

Result<SourceFile> read_file(const fs::path& path, std::uint64_t max_unpacked,
                             const std::string& columns, Spans& spans) {
  const std::size_t before = spans.all.size();
  const std::size_t ids_before = spans.ids.size();
  const std::uint64_t cut_before = spans.cut_files;
  std::error_code error;
  std::uintmax_t rest = fs::file_size(path, error);  // after the first piece; less of packed files
  const auto see = [&](SpanText& piece, TextSoFar& so_far) {
    if (so_far.bytes > 0 && so_far.bytes < rest && !error) {
      // Once, since arrays that grow by and by are copied, and take twice the memory.
      const double pieces =
          1.01 * static_cast<double>(std::exchange(rest, 0)) / static_cast<double>(so_far.bytes);
      const auto expected = [&](std::size_t old, std::size_t now) {
        return old + static_cast<std::size_t>(pieces * static_cast<double>(now - old));
      };
      spans.all.reserve(expected(before, spans.all.size()));
      spans.ids.reserve(expected(ids_before, spans.ids.size()));
    }
    return read(piece.text, path.string(), spans, nullptr, nullptr, &so_far);
  };
  TRY_ASSIGN(SourceFile file, for_each_piece(path, max_unpacked, columns, see));
  if (file.is_cut) spans.cut_files = cut_before + 1;
  file.is_cut = spans.cut_files > cut_before;
  file.events = 2 * (spans.all.size() - before);
  file.guesses = spans.guesses;
  return file;
}

Result<Spans> read_again(const SourceFile& file) {
  Spans spans;
  TRY_ASSIGN(const SourceFile again, read_file(file.path, file.max_unpacked, file.columns, spans));
  if (again.hash == file.hash) return spans;
  return formats::has_changed(file.path, file.was_summarised);
}

Result<SourceFile> summarise(const fs::path& path, std::uint64_t max_unpacked,
                             const std::string& columns, const WriteContent& write) {
  SourceFile facts;
  StoredUnits units;
  TRY_ASSIGN(
      SourceFile file,
      for_each_piece(path, max_unpacked, columns,
                     [&](SpanText& piece, TextSoFar& so_far) -> Result<void> {
                       Spans spans;
                       TRY(read(piece.text, path.string(), spans, nullptr, nullptr, &so_far));
                       facts.events += 2 * spans.all.size();
                       facts.is_cut |= spans.cut_files > 0;
                       units = spans.units;
                       facts.guesses = spans.guesses;
                       return write(packed_piece(spans));
                     }));
  file.events = facts.events;
  file.guesses = std::move(facts.guesses);
  file.is_cut |= facts.is_cut;
  TRY(write(packed_end(file, units)));
  return file;
}

std::uint64_t ignored_of(const Spans& spans) { return spans.without_id + spans.untimed.size(); }

}  // namespace entrain::spans
