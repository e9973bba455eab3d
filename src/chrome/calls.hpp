// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

#include "chrome/events.hpp"

namespace entrain::chrome {

/// What a kernel of NCCL or RCCL does, as far as its name and arguments say.
enum class Operation : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  barrier,
  broadcast,
  scatter,
  reduce,
  gather,
  send_receive,  ///< point to point
  other,         ///< not known
};

constexpr std::uint32_t k_no_rank = ~std::uint32_t{0};

/// A collective call of a rank, or a message: a kernel on its GPU.
struct Call {
  std::uint64_t begin = 0, end = 0;  ///< ns
  std::uint64_t size = 0;            ///< hash of size and type; 0: not known
  std::uint64_t step = 0;            ///< of the training loop, from 1 on; 0: not known
  std::uint64_t correlation = 0;     ///< of the launch
  std::uint32_t place = 0;           ///< among the calls of its file, in order of the text
  std::uint32_t root = k_no_rank;    ///< rank of the one that all get data from, or give it to
  std::uint32_t from = k_no_rank, to = k_no_rank;  ///< ranks of a message; unknown: perhaps its own
  Operation operation = Operation::other;
  bool zero_splits = false;    ///< of an all-to-all: some ranks exchange nothing
  bool before_launch = false;  ///< it begins before the processor launched it
  std::string group;           ///< sequences of equal groups belong together
  std::string number;          ///< "Comms Id" and "Seq"; empty: has none
};

/// What one file holds.
struct RankFile {
  std::filesystem::path path;
  std::uint64_t max_unpacked = 0;  ///< bytes: with what limit it is read; 0: the default
  FileFacts facts;
  std::uint32_t rank = 0;
  std::uint64_t events = 0;  ///< with a time
  std::uint64_t first = 0, last = 0;
  std::uint64_t cut_times = 0;      ///< with more than 3 decimals
  std::uint64_t endless_calls = 0;  ///< kernels that communicate, of which the end is not known
  std::uint64_t mixed_calls = 0;    ///< left out: of several processes, perhaps several ranks
  bool one_stream = false;          ///< these share a process and run at one time on a stream
  bool whole_us = true;             ///< no time has decimals
  std::vector<Call> calls;          ///< in order of begin
};

/// In words of MPI, e.g. "all_reduce".
const char* name_of(Operation operation);
/// True if no rank ends the call before all have begun it.
bool synchronises(Operation operation);
/// True if data go from one rank to all.
bool comes_from_root(Operation operation);
/// True if data go from all ranks to one.
bool goes_to_root(Operation operation);

/// True for a kernel that communicates: with its length, or the event of its begin (B, b).
bool is_collective_kernel(const EventText& event);

/// Puts the calls of a file in order of begin; those that begin together, of end and of the text.
void sort_calls(RankFile& file);

/// Reads one file. Errors: those of chrome::read().
Result<RankFile> read_file(const std::filesystem::path& path, std::uint64_t max_unpacked = 0);

/// Groups of calls that are one collective or one message each: per instance the number of a call
/// at each rank that takes part, or k_absent.
struct Instance {
  static constexpr std::uint32_t k_absent = ~std::uint32_t{0};
  std::vector<std::uint32_t> call;  ///< per file
  Operation operation = Operation::other;
  /// File of the root, or of a message's sender; k_absent where all members are alike.
  std::uint32_t root = k_absent;
};

struct Matches {
  std::vector<Instance> instances;
  std::uint64_t ambiguous = 0;      ///< calls of which several shifts are as good as another
  std::uint64_t alone = 0;          ///< calls that fit to none of another rank
  std::uint64_t without_edges = 0;  ///< calls of unknown operations, roots or partners
  std::uint64_t zero_splits = 0;    ///< calls of all-to-all in which ranks exchange nothing
  /// The shortest loop of which calls were paired by the clocks as they are, ns; 0: none.
  std::int64_t shortest_loop = 0;
};

/// Finds which calls belong together: by number where calls have one, else by aligning the
/// sequences of calls of equal group. Files whose windows of time do not correspond stay apart.
Matches match_calls(const std::vector<RankFile>& files);

/// The same as the files are once they are written with a map each.
Matches match_calls_after(const std::vector<RankFile>& files, std::span<const ClockMap> maps);

}  // namespace entrain::chrome
