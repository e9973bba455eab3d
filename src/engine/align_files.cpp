// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include <entrain/entrain.hpp>

#include "base/file.hpp"
#include "base/try.hpp"
#include "base/unfinished.hpp"
#include "engine/align.hpp"
#include "engine/archive_records.hpp"
#include "engine/verbs.hpp"
#include "formats/recording.hpp"
#include "formats/registry/standard_input.hpp"
#include "formats/tables/read_clocks.hpp"
#include "formats/tables/read_edges.hpp"
#include "formats/tables/write_tables.hpp"
#include "output/output.hpp"
#include "trace/workers.hpp"

namespace entrain {

namespace fs = std::filesystem;

namespace {

constexpr const char* k_maps = "maps.csv";

Result<void> check_files(const AlignFiles& files) {
  if (files.apply.empty()) return {};
  if (files.output.empty()) {
    return usage_error("{} would be mapped to nowhere; name a folder for the result",
                       files.apply.string());
  }
  for (const char* own : {k_maps, "bounds.csv", "report.json"}) {
    if (files.apply.filename() != own) continue;
    return usage_error("{} has the name of a file of the result; rename it", files.apply.string());
  }
  return {};
}

Result<void> put(const fs::path& path, std::string_view text) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  return write_file(path, {bytes, text.size()});
}

bool is_standard_input(const fs::path& path) { return path == formats::k_standard_input; }

Result<tables::Source> source_of(const fs::path& edges) {
  std::error_code error;
  if (fs::is_directory(edges, error) || edges.extension() == ".otf2") {
    return usage_error(
        "{} is no table: entrain edges writes the table of edges of a trace, and "
        "entrain correct aligns a trace as it is",
        edges.string());
  }
  if (!is_standard_input(edges)) return tables::Source(edges);
  TRY_ASSIGN(fs::path path, formats::standard_input());
  return tables::Source("standard input", std::move(path));
}

std::vector<fs::path> clock_files(const AlignFiles& files) {
  if (!files.clocks.empty()) return files.clocks;
  if (is_standard_input(files.edges)) return {};
  const fs::path beside = clocks_file_of(files.edges);
  return file_exists(beside) ? std::vector<fs::path>{beside} : std::vector<fs::path>{};
}

Result<void> check_output(const fs::path& output, const OutputRule& rule) {
  return formats::is_table_name(output) ? OutputFile::check(output, rule)
                                        : OutputFolder::check(output, rule);
}

std::string maps_of(const engine::AlignedTables& aligned) {
  const Alignment& alignment = aligned.alignment;
  return tables::maps_csv(aligned.clocks, alignment.maps, aligned.wraps,
                          alignment.report.after.judgement.verdict);
}

/// Writes the mapped table.
Result<void> map_table(const AlignFiles& files, const engine::AlignedTables& aligned,
                       const fs::path& to) {
  return tables::map_table(files, aligned.clocks, aligned.alignment.maps, aligned.wraps, to);
}

/// Writes the mapped table, or the maps if there is none, as a file.
Result<void> write_table(const AlignFiles& files, const engine::AlignedTables& aligned,
                         const OutputRule& rule) {
  const std::string name = files.output.filename().string();
  TRY_ASSIGN(const std::string wanted, tables::named_as_packed(name, files.apply));
  if (name != wanted) {
    return usage_error("the new table is not packed that way: name it {}",
                       (files.output.parent_path() / wanted).string());
  }
  TRY_ASSIGN(OutputFile file, OutputFile::create(files.output, rule));
  std::error_code error;
  fs::create_directory(file.workshop(), error);
  const fs::path made = file.workshop() / "table";
  const auto write = [&] {
    return files.apply.empty() ? put(made, maps_of(aligned)) : map_table(files, aligned, made);
  };
  TRY(under_final_name(write(), made, files.output));
  TRY(file.take(made));
  return file.commit();
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
  const trace::MemoryLimit limit(options.check.memory_limit_bytes);
  AlignedTables result;
  TRY_ASSIGN(tables::Layout layout, tables::layout_of(tables.unit, tables.columns));
  layout.max_unpacked = options.check.max_unpacked_bytes;
  TRY_ASSIGN(result.clocks, tables::read_clocks(tables.clocks, tables.resolution_hz, layout.unit,
                                                &layout.clock_hz));
  TRY_ASSIGN(tables::EdgeTable table, tables::read_edges(tables.edges, result.clocks,
                                                         options.check.threads, progress, layout));
  TRY_ASSIGN(result.alignment, align(result.clocks, table.list.view(), options, page, progress));
  AlignReport& report = result.alignment.report;
  report.notes = std::move(table.notes);
  std::vector<SetAside>& aside = report.after.set_aside;
  aside.insert(aside.begin(), table.set_aside.begin(), table.set_aside.end());
  for (const SetAside& one : aside) {
    if (!one.is_decisive) report.notes.push_back(one.reason + ": these are ignored");
  }
  const bool is_decisive = std::ranges::any_of(report.after.set_aside,
                                               [](const SetAside& one) { return one.is_decisive; });
  if (is_decisive && report.after.violations == 0) {
    report.after.judgement = {Verdict::unproven, Doubt::set_aside};
  }
  result.wraps = std::move(table.wraps);
  return result;
}

Result<AlignReport> engine::align(const AlignFiles& files, const AlignOptions& options,
                                  const AlignExtras& extras, Progress* progress) {
  TRY(check_files(files));
  const OutputRule rule = output_rule(files);
  if (!files.output.empty()) TRY(check_output(files.output, rule));
  const std::vector<fs::path> clock_tables = clock_files(files);
  TRY_ASSIGN(tables::Source edges, source_of(files.edges));
  const AlignTables tables{std::move(edges),
                           {clock_tables.begin(), clock_tables.end()},
                           files.resolution_hz,
                           files.unit,
                           files.columns};
  TRY_ASSIGN(AlignedTables aligned, align(tables, options, extras.page, progress));
  Alignment& result = aligned.alignment;
  if (files.clocks.empty() && !clock_tables.empty()) {
    result.report.notes.push_back(
        fmt::format("clocks are those of {}", clock_tables.front().string()));
  }
  if (files.output.empty() || result.report.contradicts_itself) return std::move(result.report);
  result.report.output = files.output.string();
  if (formats::is_table_name(files.output)) {
    TRY(write_table(files, aligned, rule));
    return std::move(result.report);
  }
  TRY_ASSIGN(OutputFolder folder, OutputFolder::create(files.output, rule));
  TRY(put(folder.path() / k_maps, maps_of(aligned)));
  if (!files.apply.empty()) TRY(map_table(files, aligned, folder.path() / files.apply.filename()));
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
  const trace::MemoryLimit limit(options.memory_limit_bytes);
  TRY_ASSIGN(engine::ArchiveEdges edges, engine::read_edges(archive, options, progress));
  TRY_ASSIGN(OutputFile clocks_file, OutputFile::create(clocks_path, rule));
  TRY(clocks_file.write(tables::clocks_csv(edges.clocks)));
  TRY_ASSIGN(OutputFile edges_file, OutputFile::create(output, rule));
  TRY(tables::write_edges(edges.clocks, edges.list.view(),
                          {.edges = edges.edge_margins, .members = edges.member_margins},
                          formats::is_file_name(output) && !formats::is_table_name(output),
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
