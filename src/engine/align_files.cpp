// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include <entrain/entrain.hpp>

#include "base/file.hpp"
#include "base/try.hpp"
#include "base/unfinished.hpp"
#include "engine/align.hpp"
#include "engine/edges.hpp"
#include "engine/inputs.hpp"
#include "engine/verbs.hpp"
#include "formats/tables/read_clocks.hpp"
#include "formats/tables/read_edges.hpp"
#include "formats/tables/write_tables.hpp"
#include "output/output.hpp"
#include "session/workers.hpp"

namespace entrain {

namespace fs = std::filesystem;

namespace {

constexpr const char* k_maps = "maps.csv";

bool is_json_name(const fs::path& path) {
  const fs::path extension = path.extension();
  return extension == ".jsonl" || extension == ".ndjson" || extension == ".json";
}

Result<void> check_files(const AlignFiles& files) {
  if (files.apply.empty()) return {};
  if (files.output.empty()) {
    return fail(ErrorKind::usage,
                fmt::format("{} would be mapped to nowhere; name a folder for the result",
                            files.apply.string()));
  }
  for (const char* own : {k_maps, "bounds.csv", "report.json"}) {
    if (files.apply.filename() != own) continue;
    return fail(ErrorKind::usage, fmt::format("{} has the name of a file of the result; rename it",
                                              files.apply.string()));
  }
  return {};
}

Result<void> put(const fs::path& path, std::string_view text) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  return write_file(path, {bytes, text.size()});
}

bool is_standard_input(const fs::path& path) { return path == "-"; }

std::string read_standard_input() {
  constexpr std::size_t k_block = std::size_t{1} << 20;
  std::string text;
  for (std::size_t read = k_block; read == k_block;) {
    const std::size_t before = text.size();
    text.resize(before + k_block);
    read = std::fread(text.data() + before, 1, k_block, stdin);
    text.resize(before + read);
  }
  return text;
}

std::vector<fs::path> clock_files(const AlignFiles& files) {
  if (!files.clocks.empty()) return files.clocks;
  if (is_standard_input(files.edges)) return {};
  const fs::path beside = clocks_file_of(files.edges);
  return file_exists(beside) ? std::vector<fs::path>{beside} : std::vector<fs::path>{};
}

}  // namespace

fs::path clocks_file_of(const fs::path& edges) {
  fs::path path = edges;
  return path.replace_extension(".clocks.csv");
}

OutputRule engine::output_rule(const AlignFiles& files) {
  auto inputs = std::make_shared<Inputs>();
  for (const fs::path& file : clock_files(files)) inputs->add_file(file);
  if (!is_standard_input(files.edges)) inputs->add_file(files.edges);
  inputs->add_file(files.apply);
  return {.force = files.force, .inputs = std::move(inputs)};
}

Result<AlignReport> align(const AlignFiles& files, const AlignOptions& options,
                          Progress* progress) {
  return engine::align(files, options, {}, progress);
}

Result<engine::AlignedTables> engine::align(const AlignTables& tables, const AlignOptions& options,
                                            page::Data* page, Progress* progress) {
  const session::MemoryLimit limit(options.check.memory_limit_bytes);
  AlignedTables result;
  TRY_ASSIGN(const tables::Layout layout, tables::layout_of(tables.unit, tables.columns));
  TRY_ASSIGN(result.clocks, tables::read_clocks(tables.clocks, tables.resolution_hz, layout.unit));
  TRY_ASSIGN(tables::EdgeTable table, tables::read_edges(tables.edges, result.clocks,
                                                         options.check.threads, progress, layout));
  TRY_ASSIGN(result.alignment, align(result.clocks, table.list.view(), options, page, progress));
  result.alignment.report.notes = std::move(table.notes);
  result.wraps = std::move(table.wraps);
  return result;
}

Result<AlignReport> engine::align(const AlignFiles& files, const AlignOptions& options,
                                  const AlignExtras& extras, Progress* progress) {
  TRY(check_files(files));
  const OutputRule rule = output_rule(files);
  if (!files.output.empty()) TRY(OutputFolder::check(files.output, rule));
  const std::vector<fs::path> clock_tables = clock_files(files);
  const std::string all = is_standard_input(files.edges) ? read_standard_input() : "";
  const AlignTables tables{
      is_standard_input(files.edges) ? tables::Source("standard input", all) : files.edges,
      {clock_tables.begin(), clock_tables.end()},
      files.resolution_hz,
      files.unit,
      files.columns};
  TRY_ASSIGN(AlignedTables aligned, align(tables, options, extras.page, progress));
  const Clocks& clocks = aligned.clocks;
  Alignment& result = aligned.alignment;
  if (files.clocks.empty() && !clock_tables.empty()) {
    result.report.notes.push_back(
        fmt::format("clocks are those of {}", clock_tables.front().string()));
  }
  if (files.output.empty()) return std::move(result.report);
  TRY_ASSIGN(OutputFolder folder, OutputFolder::create(files.output, rule));
  result.report.output = files.output.string();
  TRY(put(folder.path() / k_maps, tables::maps_csv(clocks, result.maps, aligned.wraps)));
  if (!files.apply.empty()) {
    TRY_ASSIGN(File mapped, File::create(folder.path() / files.apply.filename()));
    TRY(tables::map_table(files, clocks, result.maps, aligned.wraps, [&](std::string_view text) {
      return mapped.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    }));
    TRY(mapped.close());
  }
  if (result.report.bounds && extras.bounds) {
    TRY(put(folder.path() / "bounds.csv", extras.bounds(result.report)));
  }
  if (extras.report) TRY(put(folder.path() / "report.json", extras.report(result.report)));
  TRY(folder.commit());
  return std::move(result.report);
}

Result<EdgesReport> write_edges(const fs::path& archive, const fs::path& output,
                                const CheckOptions& options, bool force, Progress* progress) {
  return engine::write_edges({archive}, output, options, force, progress);
}

Result<EdgesReport> engine::write_edges(const Paths& archive, const fs::path& output,
                                        const CheckOptions& options, bool force,
                                        Progress* progress) {
  const fs::path clocks_path = clocks_file_of(output);
  const OutputRule rule = output_rule(archive, options, force);
  TRY(OutputFile::check(output, rule));
  TRY(OutputFile::check(clocks_path, rule));
  const session::MemoryLimit limit(options.memory_limit_bytes);
  TRY_ASSIGN(engine::ArchiveEdges edges, engine::read_edges(archive, options, progress));
  TRY_ASSIGN(OutputFile clocks_file, OutputFile::create(clocks_path, rule));
  TRY(clocks_file.write(tables::clocks_csv(edges.clocks)));
  TRY_ASSIGN(OutputFile edges_file, OutputFile::create(output, rule));
  TRY(tables::write_edges(edges.clocks, edges.list.view(),
                          {.edges = edges.edge_margins, .members = edges.member_margins},
                          is_json_name(output),
                          [&](std::string_view text) { return edges_file.write(text); }));
  TRY(OutputFile::commit_both(clocks_file, edges_file));
  note_result(output);
  EdgesReport report;
  report.edges_file = output.string();
  report.clocks_file = clocks_path.string();
  report.edges = edges.list.kind.size();
  report.instances = edges.list.instances.size();
  report.members = edges.list.members.size();
  for (const Clock& clock : edges.clocks.clocks) report.sessions += clock.sessions.size();
  report.counts = std::move(edges.report);
  return report;
}

}  // namespace entrain
