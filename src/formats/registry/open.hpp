// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/options.hpp>

#include "base/team.hpp"
#include "formats/source.hpp"
#include "output/inputs.hpp"

/// The one place that chooses the format of a trace.
///
/// A folder with an OTF2 anchor, and a file of another name than those of JSON, is an OTF2 archive.
/// Other files and folders hold a trace of Paraver; spans of services if they begin like some, in
/// JSON, as Protobuf or in tables of CSV; else training runs, in JSON or of Perfetto. A folder
/// without any of these holds CTF traces if there are some in it, at most six folders deeper.
namespace entrain::formats {

/// The path of a trace, or the paths of several files or archives that are one run; "-" is standard
/// input.
using Paths = std::vector<std::filesystem::path>;

/// How the files of a trace are read: members of CheckOptions.
struct ReadOptions {
  std::uint64_t max_unpacked = 0;
  std::string columns{};
  std::span<const std::string> match{};  ///< must outlive the call
};
inline ReadOptions read_options(const CheckOptions& options) {
  return {options.max_unpacked_bytes, options.columns, options.match};
}

/// Opens a trace. Errors: those of reading; ErrorKind::usage for several paths of which one is a
/// file of JSON and one is not, for `match` with another format than CTF, and for `columns` without
/// a table of spans.
Result<std::unique_ptr<Source>> open(const Paths& paths, unsigned threads,
                                     const ReadOptions& how = {});

/// The same for the processes of a run, which share OTF2 archives only. Collective: they get the
/// same errors, also where one of them sees other files. Errors: those above; ErrorKind::usage.
Result<std::unique_ptr<Source>> open(Team& processes, const Paths& paths, unsigned threads,
                                     const ReadOptions& how = {});

/// Whether a trace may be written anew to `output`: to a file of that name where a file is read and
/// the name tells of JSON, else to a folder. Errors: those of OutputFolder::check().
Result<void> check_output(const Paths& paths, const std::filesystem::path& output,
                          const OutputRule& rule);

/// Refuses a path that is no OTF2 archive, for verbs that read nothing else. Errors:
/// ErrorKind::input.
Result<void> require_archive(const std::filesystem::path& path);

/// Adds all files of a trace to the inputs of a run, those of links, too.
void add_inputs(Inputs& inputs, const std::filesystem::path& path);

}  // namespace entrain::formats
