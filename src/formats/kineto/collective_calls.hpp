// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

#include "base/name_table.hpp"
#include "formats/kineto/events.hpp"

namespace entrain::kineto {

class TimeIndex;

/// Operation of a kernel of NCCL or RCCL, by its name and arguments.
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
  std::uint64_t step = 0;            ///< step of the training loop, from 1 on; 0: not known
  std::uint64_t correlation = 0;     ///< number of the launch
  std::uint32_t place = 0;           ///< number among the calls of its file, in order of the text
  std::uint32_t clock = 0;           ///< position in RankFile::clocks
  std::uint32_t root = k_no_rank;    ///< rank that all get data from, or give data to
  std::uint32_t from = k_no_rank, to = k_no_rank;  ///< ranks of a message; unknown: perhaps its own
  Operation operation = Operation::other;
  std::uint32_t group_size = 0;  ///< number of ranks of the group; 0: not known
  bool zero_splits = false;      ///< an all-to-all in which some ranks exchange nothing
  std::string group;             ///< calls of one collective have equal groups
  std::uint64_t number = 0;      ///< hash of "Comms Id" and "Seq"; 0: none
  /// label_of() its kernel; calls with equal labels in a file share it. Null: not known.
  std::shared_ptr<const std::string> label{};
};

/// Where a viewer shows an event: its process ("pid") and its thread ("tid"), as written.
struct Row {
  std::string_view process, thread;
};

/// Numbers the rows of a file in the order in which they are seen.
class RowNumbers {
 public:
  /// The number of a row; that of a new one is the number of rows before.
  std::uint32_t operator()(const Row& row) {
    name_.assign(row.process).append(1, '\n').append(row.thread);
    return names_.number(name_);
  }
  [[nodiscard]] std::size_t size() const { return names_.all().size(); }

 private:
  NameTable names_;
  std::string name_;
};

struct RowClock {
  std::uint32_t clock = 0;       ///< position in RankFile::clocks
  bool is_out_of_order = false;  ///< its order tells nothing of where its clock was set back
};

/// Finds, by the order of the events of a row, where its clock was set back and repeats times.
class RowOrder {
 public:
  /// A step back between two events: from the begin of the first to that of the second; `until`:
  /// the end of the first. All in ns without the base.
  struct Fall {
    std::int64_t from = 0, to = 0, until = 0;
    std::int64_t ahead = 0;  ///< added to all later times, once it is known
  };
  /// Takes an event; returns the number of falls up to it. Parents that follow their children also
  /// begin earlier: by less than 0.1 ms, or more than k_most_falls times.
  std::uint32_t see(std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t k_least = 100'000;  // ns
    if (begin == 0 || is_beyond(begin) || is_beyond(end) || part() > k_most_falls) return part();
    const bool falls = begin < latest_ - k_least;
    if (falls) falls_.push_back({latest_, begin, until_});
    if (falls || begin >= latest_) latest_ = begin, until_ = end;
    return part();
  }
  /// With more falls, the order of the row says nothing about its clock.
  static constexpr std::uint32_t k_most_falls = 16;
  [[nodiscard]] const std::vector<Fall>& falls() const { return falls_; }

 private:
  [[nodiscard]] std::uint32_t part() const { return static_cast<std::uint32_t>(falls_.size()); }

  std::vector<Fall> falls_;
  std::int64_t latest_ = std::numeric_limits<std::int64_t>::min() / 2, until_ = 0;
};

/// Falls of a clock, in order. Times after a fall are moved behind those before it.
struct Falls {
  std::vector<RowOrder::Fall> all{};

  /// The number of falls before a time. `part`: falls of its row before it; a row may have none.
  [[nodiscard]] std::uint32_t before(std::int64_t time, std::uint32_t part) const {
    std::uint32_t f = 0;
    while (f < all.size() && (f < part || time > all[f].until)) ++f;
    return f;
  }
  /// The correction of a time, to be added modulo 2^64.
  [[nodiscard]] std::uint64_t ahead(std::int64_t time, std::uint32_t part) const {
    std::uint64_t sum = 0;
    for (std::uint32_t f = before(time, part); f-- > 0;) {
      sum += static_cast<std::uint64_t>(all[f].ahead);
    }
    return sum;
  }
};

/// An edge between a host and its device: a launch precedes the begin of its kernel; the end of a
/// kernel precedes the end of a call that waits for it.
struct InnerEdge {
  std::uint64_t host = 0, device = 0;  ///< times by these two clocks, ns
  bool from_host = true;               ///< the host's time precedes the device's
};

/// A part of a flow arrow that no other part in its file completes.
struct Arrow {
  enum class Part : std::uint8_t { start, step, end };
  std::uint64_t key = 0;    ///< hash of what all parts share: category, name and id
  std::uint64_t time = 0;   ///< ns
  std::uint32_t clock = 0;  ///< position in RankFile::clocks
  Part part = Part::start;
};

/// A range of numbers that are no times of this run: 0 in place of a time, a day or more from all
/// others, or beyond all times. Events keep them.
struct NoTimes {
  std::int64_t first = 0, last = 0;  ///< ns without the base
  std::uint64_t count = 0;           ///< begins and ends

  void add(const NoTimes& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
    count += other.count;
  }
};
/// True for a time in one of the ranges, which are in order.
inline bool is_in(const std::vector<NoTimes>& ranges, std::int64_t time) {
  const auto next = std::ranges::upper_bound(ranges, time, {}, &NoTimes::first);
  return next != ranges.begin() && time <= (next - 1)->last;
}

/// A clock of a file: the host's, or that of a device to which calls of the host are related.
struct FileClock {
  std::string process{};  ///< "pid" of a device's events as written
  std::uint64_t events = 0;
  std::uint64_t first = 0, last = 0;  ///< ns
  std::uint64_t times = 0;            ///< begins and ends, those in `none` too
  std::vector<NoTimes> none{};        ///< sorted by time
  std::uint32_t part = 0;             ///< number of its rank in the file
  std::vector<InnerEdge> edges{};     ///< edges between the host and this device
  Falls falls{};                      ///< places where it was set back

  [[nodiscard]] bool is_none(std::int64_t time) const {
    return is_beyond(time) || is_in(none, time);
  }
  /// True if the begin or the end of an event is one of `none`.
  [[nodiscard]] bool is_none(std::int64_t begin, std::int64_t length) const {
    std::int64_t end = 0;
    return is_none(begin) || (!__builtin_add_overflow(begin, length, &end) && is_none(end));
  }
};

/// Contents of one file, or of all windows of a rank.
struct RankFile {
  std::filesystem::path path;
  std::uint64_t max_unpacked = 0;  ///< limit of unpacked bytes; 0: the default
  FileFacts facts;
  std::uint32_t rank = 0;
  std::uint64_t events = 0;          ///< number of events with a time
  std::vector<FileClock> clocks{1};  ///< clocks of hosts, then of devices
  std::uint32_t parts = 1;           ///< ranks in this file; part k has clock k as its host's
  /// Clock of each row that does not follow the first clock. 0: a row of a device without a tie to
  /// its host: it has the first clock, but falls of the host are none of the device.
  std::map<std::pair<std::string, std::string>, std::uint32_t> rows;  ///< key: as a Row
  std::map<std::uint32_t, std::uint32_t> machines;  ///< clock of each machine's host
  std::vector<std::uint32_t> numbers;               ///< positions of its clocks in the run
  std::uint64_t zeros = 0;                          ///< events with a `ts` of 0 that is no time
  std::uint64_t cut_times = 0;                      ///< number of times with more than 3 decimals
  std::uint64_t endless_calls = 0;                  ///< kernels that communicate and have no end
  std::uint64_t timeless_calls = 0;                 ///< kernels that communicate, without a time
  std::uint64_t mixed_calls = 0;                    ///< ignored: several processes, perhaps ranks
  bool one_stream = false;                   ///< mixed calls overlap on one stream of one process
  bool whole_us = true;                      ///< true if no time has decimals
  std::vector<Call> calls;                   ///< sorted by begin
  std::vector<Arrow> arrows;                 ///< arrows to or from other files, in any order
  std::uint64_t calls_read = 0;              ///< calls of a file, once its rank has them
  std::shared_ptr<const TimeIndex> times{};  ///< null unless the file is JSON
  bool was_summarised = false;               ///< it was read long before it is written

  [[nodiscard]] RowClock clock_of(const Row& row) const {
    const auto known = rows.find({std::string(row.process), std::string(row.thread)});
    if (known == rows.end()) return {};
    return {known->second, known->second == 0};
  }
};

/// The maps of a file's clocks, chosen from the maps of the run.
std::vector<ClockMap> maps_of(const RankFile& file, std::span<const ClockMap> maps);

/// Moves all times that were read of a file, or of a rank, by the maps of its clocks, and rounds
/// them to the unit in which the file stores times. Removes the falls of its clocks.
void move_times(RankFile& file, std::span<const ClockMap> maps);

/// Name in words of MPI, e.g. "all_reduce".
const char* name_of(Operation operation);
/// True if no rank ends the call before all have begun it.
constexpr bool synchronises(Operation operation) { return operation <= Operation::barrier; }
/// True if data go from one rank to all.
constexpr bool comes_from_root(Operation operation) {
  return operation == Operation::broadcast || operation == Operation::scatter;
}
/// True if data go from all ranks to one.
constexpr bool goes_to_root(Operation operation) {
  return operation == Operation::reduce || operation == Operation::gather;
}

/// The operation that the name of a kernel, a range or a collective stands for.
Operation operation_of(std::string_view name);

/// Sets what follows from the arguments of a call of known operation. `stream`: that of the kernel.
void describe(Call& call, Members& argument, std::string_view stream);

/// Label of a kernel in viewers, "ncclDevKernel_AllReduce on stream 24". `name`, `stream`: as
/// written; "": the stream is not known.
std::string label_of(std::string_view name, std::string_view stream);

/// True if a call names no process group: its stream replaces the group.
bool is_grouped_by_stream(const Call& call);

/// True for a kernel that communicates: a complete event, or the begin of one (B, b).
bool is_collective_kernel(const EventText& event);

/// True if arguments may be read: of work, of calls that launch it or wait, and of collectives.
bool has_arguments_to_read(std::string_view category, std::string_view name);

/// Sorts the calls of a file by begin, end and place.
void sort_calls(RankFile& file);

/// Reads one file. Errors: those of kineto::read().
Result<RankFile> read_file(const std::filesystem::path& path, std::uint64_t max_unpacked = 0);

/// A call of a file.
struct Member {
  std::uint32_t file = 0;
  std::uint32_t call = 0;  ///< position in RankFile::calls
  friend auto operator<=>(const Member&, const Member&) = default;
};

inline const Call& call_of(std::span<const RankFile> files, const Member& one) {
  return files[one.file].calls[one.call];
}

/// Calls that are one collective or one message.
struct Instance {
  static constexpr std::uint32_t k_absent = ~std::uint32_t{0};
  std::vector<Member> members;  ///< sorted by file, one per file
  Operation operation = Operation::other;
  /// File of the root, or of a message's sender; k_absent for operations without a root.
  std::uint32_t root = k_absent;

  /// The call of a file; null if it takes no part.
  [[nodiscard]] const Member* of(std::uint32_t file) const {
    const auto at = std::ranges::lower_bound(members, file, {}, &Member::file);
    return at != members.end() && at->file == file ? &*at : nullptr;
  }

  /// Adds the call of a file that has none yet.
  void insert(const Member& one) {
    members.insert(std::ranges::lower_bound(members, one.file, {}, &Member::file), one);
  }
};

/// A file without a tie to another one: they have a group in common, but no calls could be paired.
/// Or a file whose first or last calls could not be paired.
struct ApartFile {
  std::uint32_t file = 0, other = 0;
  /// Offsets of the two clocks at which calls fit, ns: one that is not good enough, or several.
  std::vector<std::int64_t> offsets;
  /// Calls at one end of the file without a partner, where both go on. 0: no call has a partner.
  std::size_t calls = 0;
  bool is_head = false;  ///< true: the first calls; false: the last ones
};

struct Matches {
  std::vector<Instance> instances;
  std::uint64_t ambiguous = 0;      ///< calls with several plausible partners
  std::uint64_t alone = 0;          ///< calls without a partner
  std::uint64_t without_edges = 0;  ///< calls with unknown operation, root or partner
  std::uint64_t zero_splits = 0;    ///< calls of all-to-all with empty splits
  std::vector<ApartFile> apart;
};

/// Pairs calls: by number if they have one, else by aligning the sequences of each group. Calls of
/// files whose windows of time do not overlap stay unpaired.
Matches match_calls(const std::vector<RankFile>& files);

/// Pairs the calls by the times that the files have once they are written with a map each.
Matches match_calls_after(const std::vector<RankFile>& files, std::span<const ClockMap> maps);

}  // namespace entrain::kineto
