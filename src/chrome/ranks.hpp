// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <entrain/error.hpp>

#include "chrome/calls.hpp"

/// Which rank of a run each file is of.
namespace entrain::chrome {

/// Takes the files out that have no event and tell no rank, of which nothing is known, and says so
/// in `notes`. If all files are such, all stay.
void leave_out_empty(std::vector<RankFile>& files, std::vector<std::string>& notes);

/// Gives each file its rank, and puts them in order of rank; `notes` say what the ranks are taken
/// from, and which are missing. Nothing depends on folders unless two files have one name, so that
/// a copy of all files in one folder has the same ranks. Errors: ErrorKind::input for two files of
/// one rank, and for files of different runs.
///
/// Example: of b/x.json and a/y.json, which do not tell it, the first one is rank 0. If x.json
/// tells that it is rank 1, y.json is rank 0, which nobody else is.
Result<void> order_ranks(std::vector<RankFile>& files, std::vector<std::string>& notes);

/// A sentence for each file whose own rank cannot be one of its run.
std::vector<std::string> doubts_of_ranks(const std::vector<RankFile>& files);

/// Ranks of the run that no file is of.
struct MissingRanks {
  std::uint32_t world = 0;  ///< how many there are in all, by distributedInfo; 0: not known
  std::uint32_t count = 0;
  std::string names;  ///< of the first ones
};
MissingRanks missing_ranks(const std::vector<RankFile>& files);

}  // namespace entrain::chrome
