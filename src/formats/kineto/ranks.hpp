// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <entrain/error.hpp>

#include "formats/kineto/collective_calls.hpp"

/// Assigns ranks to files.
namespace entrain::kineto {

/// Removes the files without an event and a rank, unless they are cut off, and names them in
/// `notes`. If all files are such, all stay.
void remove_empty(std::vector<RankFile>& files, std::vector<std::string>& notes);

/// Gives each file its rank, and sorts the files by rank. `notes` name the source of the ranks and
/// the missing ones. Folders count only if two files have one name, so that a copy of all files in
/// one folder has the same ranks. Files of one rank are windows of it, in order of time. Errors:
/// ErrorKind::input for files of one rank whose times overlap, and for files of different runs.
///
/// Example: if b/x.json and a/y.json have no rank inside, x.json is rank 0. If x.json has rank 1
/// inside, y.json is rank 0, the first free one.
Result<void> order_ranks(std::vector<RankFile>& files, std::vector<std::string>& notes);

/// The ranks of a run, with numbered clocks, of files in order of rank: one for each part. Takes
/// the calls and edges of the files, and numbers their clocks.
std::vector<RankFile> ranks_of(std::vector<RankFile>& files);

/// A sentence for each file whose own rank cannot be one of its run.
std::vector<std::string> impossible_ranks(const std::vector<RankFile>& files);

/// Ranks of the run without a file.
struct MissingRanks {
  std::uint32_t world = 0;  ///< size of the run by distributedInfo; 0: unknown
  std::uint32_t count = 0;
  std::string names;  ///< the first ones, for people
};
MissingRanks missing_ranks(const std::vector<RankFile>& files);

}  // namespace entrain::kineto
