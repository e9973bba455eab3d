// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/source_text.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <protozero/exception.hpp>

#include "base/flat_map.hpp"
#include "base/memory_room.hpp"
#include "base/text_hash.hpp"
#include "base/try.hpp"
#include "formats/json/memory.hpp"
#include "formats/recording.hpp"

namespace entrain::spans {

namespace fs = std::filesystem;

namespace {

Encoding encoding_of(std::string_view text, std::string_view columns) {
  if (framing_at(text)) return Encoding::protobuf;
  return is_span_table(text.substr(0, json::k_beginning), columns) ? Encoding::csv : Encoding::json;
}

bool is_json(std::string_view text) { return text.starts_with('{') || text.starts_with('['); }

/// Unpacks the messages of a file, of `most` bytes in all.
Result<void> unpack_messages(SpanText& document, std::uint64_t most, const fs::path& file) {
  const std::string packed = std::exchange(document.text, {});
  std::string& text = document.text;
  std::string message;
  Messages messages(packed, Framing::fixed32);
  for (std::size_t begin = 0; messages.next(); begin = messages.done()) {
    TRY(check_memory_room(file, text.capacity() + messages.message().size()));
    const std::uint64_t left = most - std::min<std::uint64_t>(most, text.size());
    const std::uint64_t limit =
        std::min<std::uint64_t>(left, std::numeric_limits<std::uint32_t>::max());
    if (json::unpack(json::Packing::zstd, messages.message(), limit, message) !=
        json::Unpacker::State::end_of_stream) {
      return input_error(
          "{}: the message at byte {} is no zstd stream, or the file holds more than {} bytes when "
          "unpacked; if you trust it, allow more with --max-unpacked",
          file.string(), begin, most);
    }
    if (!is_json(message)) append_fixed_size(message.size(), text);
    text += message;
    if (!is_json(message)) continue;
    text += '\n';
    document.sizes.push_back(message.size() + 1);
  }
  document.rest = packed.substr(messages.done());
  document.cut = !document.rest.empty();
  document.by_message = true;
  return {};
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

/// Reads a text in steps, counts its bytes, and hashes it.
struct PieceReader {
  const fs::path& path;
  json::TextReader reader;
  std::uint64_t bytes = 0, hash = 0;
  bool ended = false;

  /// Appends to a text until it has a size; less at the end only.
  Result<void> fill(std::size_t size, std::string& text) {
    while (!ended && text.size() < size) {
      TRY(check_memory_room(path, k_step));
      const std::size_t before = text.size();
      const std::size_t all = size + k_step + simdjson::SIMDJSON_PADDING;
      if (before >= k_step && text.capacity() < all) {  // a text that grows step by step is copied
        TRY(check_memory_room(path, all));
        text.reserve(all);
      }
      text.resize(before + k_step);
      TRY_ASSIGN(const std::size_t read, reader.read({text.data() + before, k_step}));
      text.resize(before + read);
      bytes += read;
      ended = read < k_step;
      if (read > 0) hash = mix(hash + text_hash(std::string_view(text).substr(before)));
    }
    return {};
  }
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

bool are_packed_messages(std::string_view beginning) {
  if (beginning.size() <= k_fixed_size || is_json(beginning)) return false;
  const std::string_view message = beginning.substr(k_fixed_size);
  return json::packing_of({reinterpret_cast<const std::uint8_t*>(message.data()),
                           message.size()}) == json::Packing::zstd;
}

Result<std::string> beginning_of(const fs::path& path) {
  TRY_ASSIGN(std::string text, json::beginning(path));
  if (!are_packed_messages(text)) return text;
  std::string message;
  json::unpack(json::Packing::zstd,
               std::string_view(text).substr(k_fixed_size, fixed_size_of(text)), json::k_beginning,
               message);
  return message;
}

Result<SpanText> load(const fs::path& path, std::uint64_t max_unpacked) {
  SpanText document;
  TRY_ASSIGN(static_cast<json::Document&>(document),
             json::load(path, max_unpacked, json::Content::bytes));
  if (document.packing == json::Packing::none && are_packed_messages(document.text)) {
    TRY(unpack_messages(document,
                        max_unpacked > 0 ? max_unpacked : json::most_unpacked(document.text.size()),
                        path));
  }
  if (!framing_at(document.text)) TRY(json::check_utf8(document.text, path));
  return document;
}

Result<SpanText> load_again(const SourceFile& file) {
  TRY_ASSIGN(SpanText document, load(file.path, file.max_unpacked));
  if (hash_of(document.text) == file.hash) return document;
  return formats::has_changed(file.path, file.was_summarised);
}

Result<std::string> pack_messages(std::string_view text, std::span<const std::size_t> sizes) {
  std::string result;
  const auto add = [&](std::string_view message) -> Result<void> {
    TRY_ASSIGN(const std::string packed, json::pack(json::Packing::zstd, message));
    append_fixed_size(packed.size(), result);
    result += packed;
    return {};
  };
  if (!is_json(text)) {
    for (Messages messages(text, Framing::fixed32); messages.next();) TRY(add(messages.message()));
    return result;
  }
  for (const std::size_t size : sizes) {
    TRY(add(text.substr(0, size - 1)));
    text.remove_prefix(size);
  }
  return result;
}

Result<void> for_each_piece(SourceFile& file, const SeePiece& see) {
  TRY_ASSIGN(json::TextReader opened, json::TextReader::open(file.path, file.max_unpacked));
  PieceReader reader{file.path, std::move(opened)};
  std::string text, rest;
  TRY(reader.fill(k_piece, text));
  const bool is_packed =
      reader.reader.packing() == json::Packing::none && are_packed_messages(text);
  const std::optional<Framing> framing = framing_at(text);
  TextSoFar so_far{.columns = file.columns, .are_lines = !framing && are_lines(text)};
  file.encoding = encoding_of(text, file.columns);
  if (is_packed || !(reader.ended || framing || so_far.are_lines)) {
    TRY_ASSIGN(SpanText whole, load(file.path, file.max_unpacked));
    file.bytes = whole.text.size();
    file.hash = hash_of(whole.text);
    file.encoding = encoding_of(whole.text, file.columns);
    file.is_cut = whole.cut;
    return see(whole.text, so_far);
  }
  for (std::size_t wanted = k_piece;;) {
    TRY(reader.fill(wanted, text));
    so_far.is_last = reader.ended;
    const std::size_t size = so_far.is_last ? text.size() : end_of_documents(text, framing);
    if (size == 0 && !so_far.is_last) {
      wanted *= 2;
      continue;
    }
    wanted = k_piece;
    rest.assign(text, size);
    text.resize(size);
    if (!framing) TRY(json::check_utf8(text, file.path));
    TRY(see(text, so_far));
    if (so_far.is_last) break;
    text.assign(rest);  // which keeps its memory
  }
  file.bytes = reader.bytes;
  file.hash = reader.hash;
  file.is_cut |= reader.reader.cut();
  return {};
}

Result<void> read_file(SourceFile& file, Spans& spans) {
  const std::size_t before = spans.all.size();
  const std::size_t ids_before = spans.ids.size();
  const std::uint64_t cut_before = spans.cut_files;
  std::error_code error;
  // Bytes after the first piece; less of packed files.
  std::uintmax_t rest = fs::file_size(file.path, error);
  TRY(for_each_piece(file, [&](std::string& text, TextSoFar& so_far) {
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
    return read(text, file.path.string(), spans, nullptr, nullptr, &so_far);
  }));
  if (file.is_cut) spans.cut_files = cut_before + 1;
  file.is_cut = spans.cut_files > cut_before;
  return {};
}

Result<Spans> read_again(const SourceFile& file) {
  Spans spans;
  SourceFile again{{.path = file.path}, file.max_unpacked, file.columns};
  TRY(read_file(again, spans));
  if (again.hash == file.hash) return spans;
  return formats::has_changed(file.path, file.was_summarised);
}

}  // namespace entrain::spans
