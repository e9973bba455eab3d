// SPDX-License-Identifier: BSD-3-Clause
#include "formats/registry/parts.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/try.hpp"
#include "formats/kineto/kineto.hpp"
#include "formats/parts/fields.hpp"
#include "formats/spans/recording.hpp"

namespace entrain::formats {

namespace fs = std::filesystem;

namespace {

tl::unexpected<Error> damaged_summary(const fs::path& path) {
  return input_error("{} is damaged: summarise its part again", path.string());
}

/// Refuses a file that stands in two summaries, and files whose copies would have one name.
Result<void> check_once(std::span<const Parts::File> files, std::span<const fs::path> summary_of) {
  std::map<fs::path, std::size_t> known;
  for (std::size_t f = 0; f < files.size(); ++f) {
    const auto [at, is_new] = known.emplace(files[f].path.filename(), f);
    if (is_new) continue;
    const Parts::File &one = files[at->second], &other = files[f];
    const bool is_same = one.hash == other.hash && one.bytes == other.bytes;
    const std::string first = summary_of[at->second].string(), second = summary_of[f].string();
    if (is_same) {
      return input_error("{} is summarised twice, in {} and in {}: give one of them",
                         one.path.string(), first, second);
    }
    return input_error(
        "{} in {} and {} in {} have one name, by which the files of a run are told apart: rename "
        "one, and summarise it again",
        one.path.string(), first, other.path.string(), second);
  }
  return {};
}

std::unique_ptr<Parts> no_parts(DocumentKind kind) {
  return kind == DocumentKind::spans ? spans::no_parts() : kineto::no_parts();
}

struct Summaries {
  std::unique_ptr<Parts> parts;
  std::vector<fs::path> summary_of{};  ///< summary of each file
};

Result<Summaries> read_summaries(const Paths& paths) {
  Summaries all;
  std::optional<DocumentKind> kind;
  for (const fs::path& path : paths) {
    TRY_ASSIGN(const std::string content, parts::content_of(parts::Kind::summary, path));
    parts::FieldReader fields(content);
    DocumentKind own{};
    fields(own);
    if (own > DocumentKind::trace) return damaged_summary(path);
    if (kind && *kind != own) {
      return input_error(
          "{} and {} are summaries of spans and of a training run: they are of two runs; give them "
          "separately",
          paths.front().string(), path.string());
    }
    kind = own;
    if (all.parts == nullptr) all.parts = no_parts(own);
    if (!all.parts->unpack(fields) || !fields.at_end()) return damaged_summary(path);
    const std::size_t files = all.parts->files().size();
    if (files == all.summary_of.size()) return damaged_summary(path);  // it names none
    all.summary_of.resize(files, path);
  }
  return all;
}

/// The run as its files will hold it.
Result<std::unique_ptr<Recording>> moved_run(const Recording& original, const Paths& summaries,
                                             std::span<const ClockMap> maps, unsigned threads) {
  Summaries all{.parts = kineto::no_parts()};  // a training run holds what its files do
  if (original.holds == DocumentKind::spans) {
    TRY_ASSIGN(all, read_summaries(summaries));
  }
  return all.parts->join_moved(original, maps, threads);
}

}  // namespace

Result<std::vector<Parts::File>> summarise(const Documents& documents, unsigned threads,
                                           const ReadOptions& how,
                                           const parts::PartWriter::Sink& sink) {
  parts::PartWriter to(parts::Kind::summary, sink);
  parts::FieldWriter fields;
  fields(documents.kind);
  TRY(to.write(fields.take()));
  TRY_ASSIGN(std::vector<Parts::File> files,
             documents.kind == DocumentKind::spans
                 ? spans::summarise(documents.files, how.max_unpacked, how.columns, to)
                 : kineto::summarise(documents.files, threads, how.max_unpacked, to));
  TRY(to.close());
  return files;
}

bool is_summary(const fs::path& file) { return parts::is_of(parts::Kind::summary, file); }

Result<std::unique_ptr<Recording>> open_summaries(const Paths& summaries, unsigned threads,
                                                  const ReadOptions& how) {
  if (!how.columns.empty()) {
    return usage_error(
        "--columns is for tables, and these are summaries: name the columns where a table is "
        "summarised");
  }
  const auto begin = std::chrono::steady_clock::now();
  TRY_ASSIGN(const Summaries all, read_summaries(summaries));
  TRY(check_once(all.parts->files(), all.summary_of));
  TRY_ASSIGN(std::unique_ptr<Recording> recording, all.parts->join(threads));
  recording->finish(begin, {});
  recording->written_with = [original = recording.get(), summaries,
                             threads](std::span<const ClockMap> maps) {
    return moved_run(*original, summaries, maps, threads);
  };
  recording->clocks.name = shown_name(summaries);
  return recording;
}

Result<FittedPart> open_fitted(const fs::path& clocks, const Documents& part, unsigned threads,
                               const std::string& columns) {
  TRY_ASSIGN(const std::string content, parts::content_of(parts::Kind::clocks, clocks));
  parts::FieldReader fields(content);
  DocumentKind kind{};
  fields(kind);
  NamedKnots all;
  visit_maps(fields, all);
  FittedPart result;
  bool is_fine = fields.fine() && kind <= DocumentKind::trace;
  for (auto& [name, knots] : all) {
    Result<ClockMap> map = ClockMap::from_knots(std::move(knots));
    is_fine = is_fine && map;
    if (map) result.maps.push_back(*std::move(map));
  }
  if (!is_fine) {
    return input_error("{} is damaged: fit the clocks again", clocks.string());
  }
  if (kind != part.kind) return unknown_part(part.files.front());
  TRY_ASSIGN(
      result.recording,
      kind == DocumentKind::spans
          ? spans::reopen(fields, result.maps.size(), part.files, part.left_out, threads, columns)
          : kineto::reopen(fields, result.maps.size(), part.files, part.left_out, threads));
  result.recording->is_one_file = part.is_one_file;
  return result;
}

}  // namespace entrain::formats
