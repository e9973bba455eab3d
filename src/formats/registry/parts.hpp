// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

#include "formats/parts/part_file.hpp"
#include "formats/parts_of_run.hpp"
#include "formats/recording.hpp"
#include "formats/registry/open.hpp"

/// Runs whose files lie on several machines: a summary of each part is made where the part is, all
/// summaries are opened as one trace, and each part is written by the clocks that were fitted.
namespace entrain::formats {

/// The files of a run, in order.
struct Documents {
  DocumentKind kind = DocumentKind::trace;
  std::vector<std::filesystem::path> files;
  std::vector<std::string> notes;                 ///< reasons why files are left out
  std::vector<std::filesystem::path> left_out{};  ///< other files of the folders
  bool is_one_file = false;                       ///< the user named a file, not a folder
};
/// Finds the files that paths name. Errors: those of open(); ErrorKind::usage for archives.
Result<Documents> documents_of(const Paths& paths, const ReadOptions& how);

/// Writes the summary of a part. Returns the facts of its files. Errors: those of reading and of
/// `sink`.
Result<std::vector<Parts::File>> summarise(const Documents& documents, unsigned threads,
                                           const ReadOptions& how,
                                           const parts::PartWriter::Sink& sink);
/// True for a summary.
bool is_summary(const std::filesystem::path& file);
/// Opens summaries as a trace: that of all their files, which are not read. Source::stage() writes
/// its clocks. `how` must say nothing about files. Errors: ErrorKind::usage;
/// ErrorKind::input for files that are no summaries or damaged, summaries of several kinds, and a
/// file that two of them hold; and those of Parts::join().
Result<std::unique_ptr<Recording>> open_summaries(const Paths& summaries, unsigned threads,
                                                  const ReadOptions& how = {});

/// Files of a run, to be written with the maps that were fitted.
struct FittedPart {
  std::unique_ptr<Recording> recording;  ///< knows no edges
  std::vector<ClockMap> maps;            ///< maps of all clocks of the run
};
/// Opens files of a run whose clocks were fitted. Errors: ErrorKind::input for a file of clocks
/// that is damaged, and for files that it does not know; ErrorKind::usage for a table that was
/// summarised with other `columns`.
Result<FittedPart> open_fitted(const std::filesystem::path& clocks, const Documents& part,
                               unsigned threads, const std::string& columns);

}  // namespace entrain::formats
