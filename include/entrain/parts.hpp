// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>

/// correct() in three steps, for training runs and spans of services whose files lie on several
/// machines. Each part of the files is summarised where it lies; the clocks of all are fitted from
/// the summaries, which are small; each part is then written by the clocks. The result is that of
/// correct() for all files together, to the bit. See entrain.hpp for what holds for all functions.
namespace entrain {

/// Files or folders.
using PartPaths = std::vector<std::filesystem::path>;

/// Options of summarise() and apply().
struct PartOptions {
  unsigned threads = 0;                  ///< worker threads; 0: all cores
  std::uint64_t max_unpacked_bytes = 0;  ///< see CheckOptions::max_unpacked_bytes
  std::string columns{};                 ///< see CheckOptions::columns
  bool force = false;                    ///< replace an unchanged earlier result
  bool mark_offsets = false;             ///< see CorrectOptions::mark_offsets; apply() only
};

/// Report of summarise() or apply().
struct PartReport {
  std::string output;              ///< file or folder that was written
  std::uint64_t files = 0;         ///< files of the part
  std::uint64_t bytes = 0;         ///< size of these, unpacked
  std::uint64_t events = 0;        ///< times in these
  std::uint64_t output_bytes = 0;  ///< size of the summary; 0 for apply()
  std::vector<std::string> notes;  ///< remarks on files left out, and on guesses
};

/// Writes a summary of some files of a run into the file `output`: the calls, messages and names of
/// clocks from which fit() finds the clocks. A file is in one part only.
Result<PartReport> summarise(const PartPaths& part, const std::filesystem::path& output,
                             const PartOptions& options, Progress* progress = nullptr);

/// Result of fit().
struct FitReport {
  CorrectReport correction;     ///< report of correct() before anything is written
  std::string file;             ///< file of the clocks
  std::string table;            ///< table of the clocks, or ""
  std::uint64_t summaries = 0;  ///< summaries that were read
  std::uint64_t files = 0;      ///< files that they summarise
};

/// Finds the clocks of a run from the summaries of all its parts, in any order, and writes them
/// into the file `output`. `table`: also as CSV with a row per segment of a clock, for as-of joins;
/// empty: no table. Errors: also ErrorKind::input for summaries that are damaged, of another
/// version or of several runs, and for a file that is in two of them.
Result<FitReport> fit(const PartPaths& summaries, const std::filesystem::path& output,
                      const std::filesystem::path& table, const CorrectOptions& options,
                      Progress* progress = nullptr);

/// Writes the files of a part by the clocks that fit() has written, with every other byte
/// unchanged, and verifies them. The part may be any of the run's files. Errors: also
/// ErrorKind::input for files that were not summarised, or have changed since.
Result<PartReport> apply(const std::filesystem::path& clocks, const PartPaths& part,
                         const std::filesystem::path& output, const PartOptions& options,
                         Progress* progress = nullptr);

}  // namespace entrain
