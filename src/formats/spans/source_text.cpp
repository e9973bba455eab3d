// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/source_text.hpp"

#include <utility>

#include "base/text_hash.hpp"
#include "base/try.hpp"
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
  if (text_hash(document.text) == file.hash) return document;
  return formats::has_changed(file.path, file.was_summarised);
}

Result<Spans> read_again(const SourceFile& file) {
  TRY_ASSIGN(SpanText document, load_again(file));
  Spans spans;
  std::vector<Stamp> stamps;
  TRY(read(document.text, file.path.string(), spans, stamps, nullptr, file.columns));
  return spans;
}

Result<std::vector<SpanFile>> read_files(std::span<const fs::path> files,
                                         std::uint64_t max_unpacked, const std::string& columns) {
  std::vector<SpanFile> all;
  for (const fs::path& path : files) {
    TRY_ASSIGN(SpanText document, load(path, max_unpacked));
    std::vector<Stamp> stamps;
    SpanFile& file = all.emplace_back();
    TRY(read(document.text, path.string(), file.spans, stamps, nullptr, columns));
    if (document.cut) file.spans.cut_files = 1;
    file.source = {.path = path,
                   .max_unpacked = max_unpacked,
                   .columns = columns,
                   .bytes = document.text.size(),
                   .hash = text_hash(document.text),
                   .events = 2 * file.spans.all.size(),
                   .encoding = encoding_of(document.text, columns),
                   .is_cut = file.spans.cut_files > 0};
  }
  return all;
}

std::uint64_t ignored_of(const Spans& spans) { return spans.without_id + spans.untimed.size(); }

}  // namespace entrain::spans
