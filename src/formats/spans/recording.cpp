// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/recording.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "base/try.hpp"
#include "formats/json/document.hpp"
#include "formats/json/scanner.hpp"
#include "formats/spans/packed_messages.hpp"
#include "formats/spans/protobuf.hpp"
#include "formats/spans/reader.hpp"
#include "formats/spans/run.hpp"
#include "formats/spans/source_text.hpp"
#include "formats/spans/span_table.hpp"

namespace entrain::spans {

namespace fs = std::filesystem;

namespace {

/// The order of files in a run: not by folders, as the files of a copy stand in one.
bool is_file_before(const fs::path& a, const fs::path& b) {
  return std::pair(a.filename(), a) < std::pair(b.filename(), b);
}

class SpanFiles : public formats::Parts {
 public:
  [[nodiscard]] bool unpack(parts::FieldReader& fields) override {
    std::vector<SpanFile> more;
    parts::list(fields, more, [](auto& inner, SpanFile& file) {
      if (!spans::unpack(inner, file)) inner.refuse();
    });
    std::move(more.begin(), more.end(), std::back_inserter(files_));
    return fields.fine();
  }
  [[nodiscard]] std::vector<File> files() const override {
    std::vector<File> all;
    for (const SpanFile& file : files_) all.push_back(file.source);
    return all;
  }
  [[nodiscard]] Result<std::unique_ptr<formats::Recording>> join(unsigned threads) override {
    sort();
    return join_files(std::move(files_), threads);
  }
  [[nodiscard]] Result<std::unique_ptr<formats::Recording>> join_moved(
      const formats::Recording& original, std::span<const ClockMap> maps,
      unsigned threads) override {
    const auto& run = static_cast<const Run&>(original);
    sort();
    for (SpanFile& file : files_) run.move(file, maps);
    return join_files(std::move(files_), threads, &run.known());
  }

 private:
  void sort() {
    std::ranges::sort(files_, is_file_before,
                      [](const SpanFile& one) -> const fs::path& { return one.source.path; });
  }

  std::vector<SpanFile> files_;
};

}  // namespace

Result<void> check_table(const fs::path& file, const std::string& columns) {
  TRY_ASSIGN(const std::string text, json::beginning(file));
  return check_span_table(text, file.string(), columns);
}

Result<bool> are_spans(const fs::path& file, const std::string& columns) {
  TRY_ASSIGN(std::string text, json::beginning(file));
  if (are_packed_messages(text)) text = first_message(text);
  if (framing_of(text) || is_span_table(text, columns)) return true;
  json::Scanner scanner(text);
  for (int depth = 0; depth < 2 && scanner.peek() == '['; ++depth) {
    scanner.open('[');
    if (!scanner.next_element()) return !scanner.failed();  // no spans at all
  }
  if (scanner.peek() != '{') return false;
  std::string_view object = std::string_view(text).substr(scanner.position());
  std::size_t inside = 0;
  Shape shape = Shape::other;
  while ((shape = shape_of(object, &inside)) == Shape::wrapped) object.remove_prefix(inside);
  return shape != Shape::other;
}

bool holds_none(const fs::path& file, std::uint64_t max_unpacked, const std::string& columns) {
  Spans spans;
  const bool is_read = read_file(file, max_unpacked, columns, spans).has_value();
  return is_read && spans.all.empty() && ignored_of(spans) + spans.cut_files == 0;
}

Result<std::vector<formats::Parts::File>> summarise(std::span<const fs::path> files,
                                                    std::uint64_t max_unpacked,
                                                    const std::string& columns,
                                                    parts::PartWriter& to) {
  parts::FieldWriter fields;
  fields.size(files);
  TRY(to.write(fields.take()));
  std::vector<formats::Parts::File> all;
  for (const fs::path& path : files) {
    TRY_ASSIGN(all.emplace_back(),
               summarise(path, max_unpacked, columns,
                         [&](std::string_view content) { return to.write(content); }));
  }
  return all;
}

std::unique_ptr<formats::Parts> no_parts() { return std::make_unique<SpanFiles>(); }

Result<std::unique_ptr<formats::Recording>> read(std::span<const fs::path> files, unsigned threads,
                                                 std::uint64_t max_unpacked,
                                                 const std::string& columns) {
  std::vector<fs::path> sorted(files.begin(), files.end());
  std::ranges::sort(sorted, is_file_before);
  return read_run(sorted, max_unpacked, columns, threads);
}

Result<std::unique_ptr<formats::Recording>> reopen(parts::FieldReader& fields, std::size_t clocks,
                                                   std::span<const fs::path> files,
                                                   std::span<const fs::path> left_out,
                                                   unsigned threads, const std::string& columns) {
  Fitted fitted;
  if (!unpack(fields, clocks, fitted)) {
    return input_error("the fitted clocks are damaged: fit them again");
  }
  TRY_ASSIGN(std::vector<SourceFile> chosen,
             formats::chosen_parts<SourceFile>(fitted.files, files, left_out));
  for (const SourceFile& file : chosen) {
    if (columns.empty() || file.encoding != Encoding::csv || file.columns == columns) continue;
    return usage_error(
        "{} was summarised {}: give the same columns", file.path.string(),
        file.columns.empty() ? "without --columns" : "with --columns '" + file.columns + "'");
  }
  return std::make_unique<Run>(std::move(chosen), fitted, threads);
}

}  // namespace entrain::spans
