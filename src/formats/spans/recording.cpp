// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/recording.hpp"

#include <algorithm>
#include <utility>

#include "base/try.hpp"
#include "formats/json/document.hpp"
#include "formats/spans/run.hpp"
#include "formats/spans/source_text.hpp"

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
    return join(threads, nullptr);
  }
  [[nodiscard]] Result<std::unique_ptr<formats::Recording>> join_moved(
      const formats::Recording& original, std::span<const ClockMap> maps,
      unsigned threads) override {
    const auto& run = static_cast<const Run&>(original);
    for (SpanFile& file : files_) run.move(file, maps);
    const Known known = run.known_after(maps);
    return join(threads, &known);
  }

 private:
  Result<std::unique_ptr<formats::Recording>> join(unsigned threads, const Known* known) {
    std::ranges::sort(files_, is_file_before,
                      [](const SpanFile& one) -> const fs::path& { return one.source.path; });
    std::vector<SourceFile> sources;
    Spans spans = std::move(files_.front().spans);
    for (SpanFile& file : files_) {
      if (!sources.empty()) append(spans, std::exchange(file.spans, {}));
      sources.push_back(std::move(file.source));
    }
    return run_of(std::move(sources), spans, threads, known);
  }

  std::vector<SpanFile> files_;
};

/// Summarises a file without holding it in memory. Returns its facts.
Result<SourceFile> summarise(SourceFile file, parts::PartWriter& to) {
  StoredUnits units;
  TRY(for_each_piece(file, [&](std::string& piece, TextSoFar& so_far) -> Result<void> {
    Spans spans;
    TRY(read(piece, file.path.string(), spans, nullptr, nullptr, &so_far));
    file.events += 2 * spans.all.size();
    file.is_cut |= spans.cut_files > 0;
    file.guesses = spans.guesses;
    units = spans.units;
    return to.write(packed_piece(spans));
  }));
  TRY(to.write(packed_end(file, units)));
  return file;
}

}  // namespace

Result<void> check_table(const fs::path& file, const std::string& columns) {
  TRY_ASSIGN(const std::string text, json::beginning(file));
  return check_span_table(text, file.string(), columns);
}

Result<bool> are_spans(const fs::path& file, const std::string& columns) {
  TRY_ASSIGN(const std::string text, beginning_of(file));
  return framing_of(text) || is_span_table(text, columns) || are_documents(text);
}

bool holds_none(const fs::path& file, std::uint64_t max_unpacked, const std::string& columns) {
  Spans spans;
  SourceFile source{{.path = file}, max_unpacked, columns};
  return read_file(source, spans) && spans.all.empty() && spans.ignored() + spans.cut_files == 0;
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
    TRY_ASSIGN(all.emplace_back(), summarise({{.path = path}, max_unpacked, columns}, to));
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
