// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/measured_apart.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/try.hpp"
#include "clocks/recorder_table.hpp"
#include "trace/properties.hpp"

namespace entrain::clocks {
namespace {

constexpr const char* k_remedy = "give the folder that entrain record -o named";
constexpr RecorderTable k_process_table{
    "rank,host,timer,ticks_per_second,begin_ticks,end_ticks,clock_of",
    "this is no process whose clock was measured", k_remedy};
constexpr RecorderTable k_offset_table{"session,rank,local_ticks,offset_ticks,half_width_ticks",
                                       "this is no clock record of a process", k_remedy};
constexpr std::int64_t k_largest_offset = std::int64_t{1} << 61;

/// A process whose clock was measured.
struct Process {
  std::string timer;
  std::uint64_t ticks_per_second = 0;
  std::uint64_t begin = 0, end = 0;  ///< range of the measurements, local ticks
  std::uint64_t clock_of = 0;        ///< rank
  std::vector<trace::ClockOffset> records;
};

Result<std::vector<Process>> read_processes(const std::filesystem::path& path) {
  std::vector<Process> processes;
  TRY(read_recorder_table(path, k_process_table, [&](RecorderRow words) -> std::string_view {
    std::uint64_t rank = 0;
    Process process;
    if (!read_numbers(words, rank) ||
        !read_numbers(words.subspan(3), process.ticks_per_second, process.begin, process.end,
                      process.clock_of) ||
        process.clock_of > rank || process.end < process.begin || process.ticks_per_second == 0) {
      return k_process_table.no_row;
    }
    if (rank != processes.size()) return "the processes are not in the order of their ranks";
    process.timer = words[2];
    processes.push_back(std::move(process));
    return {};
  }));
  return processes;
}

Result<void> read_records(const std::filesystem::path& path, std::vector<Process>& processes) {
  return read_recorder_table(path, k_offset_table, [&](RecorderRow words) -> std::string_view {
    std::uint64_t session = 0, rank = 0, half_width = 0;
    trace::ClockOffset record;
    if (!read_numbers(words, session, rank, record.time, record.offset, half_width) ||
        rank >= processes.size() || std::max(record.offset, -record.offset) > k_largest_offset ||
        half_width > static_cast<std::uint64_t>(k_largest_offset)) {
      return k_offset_table.no_row;
    }
    auto& records = processes[rank].records;
    if (!records.empty() && record.time <= records.back().time) {
      return "the records of a process are not in order of time";
    }
    record.stddev = static_cast<double>(half_width);
    records.push_back(record);
    return {};
  });
}

/// A clock at one time according to measurements.
struct Measured {
  double offset = 0, half_width = 0;  ///< ticks
};

/// On the line between the measurements beside `time`, or beyond the outermost ones; of one
/// measurement, its offset.
Measured measured_at(const std::vector<trace::ClockOffset>& records, std::uint64_t time) {
  const auto after = std::ranges::upper_bound(records, time, {}, &trace::ClockOffset::time);
  if (records.size() == 1) {
    return {static_cast<double>(records[0].offset), records[0].stddev};
  }
  const auto last = static_cast<std::ptrdiff_t>(records.size()) - 1;
  const auto right = std::clamp<std::ptrdiff_t>(after - records.begin(), 1, last);
  const trace::ClockOffset& a = records[static_cast<std::size_t>(right - 1)];
  const trace::ClockOffset& b = records[static_cast<std::size_t>(right)];
  const double part = (static_cast<double>(time) - static_cast<double>(a.time)) /
                      static_cast<double>(b.time - a.time);
  return {static_cast<double>(a.offset) + part * static_cast<double>(b.offset - a.offset),
          std::abs(1 - part) * a.stddev + std::abs(part) * b.stddev};
}

/// The measurements of a clock and the records of a trace of it, in order of time. Where both have
/// the same time, the measurement counts.
///
/// Example: measurements say 0 +- 1 us throughout, the records 3, -2 and 1 us: one is 3 us off the
/// line, so each of them counts with +- 4 us.
std::vector<trace::ClockOffset> added(const std::vector<trace::ClockOffset>& measured,
                                      std::vector<trace::ClockOffset> records) {
  double half_width = 0;
  for (const trace::ClockOffset& record : records) {
    const Measured line = measured_at(measured, record.time);
    half_width = std::max(
        half_width, std::abs(static_cast<double>(record.offset) - line.offset) + line.half_width);
  }
  std::vector<trace::ClockOffset> all = measured;
  for (trace::ClockOffset& record : records) {
    record.stddev = std::max(record.stddev, half_width);
    all.push_back(record);
  }
  std::ranges::stable_sort(all, {}, &trace::ClockOffset::time);
  const auto end = std::unique(all.begin(), all.end(),
                               [](const auto& a, const auto& b) { return a.time == b.time; });
  all.erase(end, all.end());
  return all;
}

/// The measurements of a run, applied to a trace of it.
class Measurements {
 public:
  Measurements(const std::filesystem::path& folder, bool adds, trace::Trace& trace)
      : folder_(folder), adds_(adds), trace_(trace), definitions_(trace.definitions) {}

  Result<void> read() {
    const std::filesystem::path table = folder_ / k_clock_processes;
    if (!file_exists(table)) {
      return input_error("{} cannot be read, so {} holds no clock measurements; {}", table.string(),
                         folder_.string(), k_remedy);
    }
    TRY_ASSIGN(processes_, read_processes(table));
    TRY(read_records(folder_ / k_clock_offsets, processes_));
    rank_of_process_ = trace::ranks_of_processes(definitions_);
    for (const std::uint32_t rank : rank_of_process_) {
      ranks_ = std::max<std::size_t>(ranks_, rank == k_none ? 0 : rank + 1);
    }
    TRY(check_whole());
    note_shared_clocks();
    return {};
  }

  Result<void> use(LocationIndex l) {
    trace::LocationSkeleton& location = trace_.locations[l];
    const std::uint32_t rank = rank_of_process_[definitions_.process_of[l]];
    if (rank == k_none) {
      return misfit(fmt::format("location {} of the archive belongs to no rank of MPI",
                                definitions_.locations[l].id));
    }
    const Process& process = processes_[rank];
    if (location.event_count > 0 &&
        (location.last < process.begin || location.first > process.end)) {
      return misfit(fmt::format(
          "the archive has events of rank {} from {} to {} ticks of its timer, but its clock was "
          "measured from {} to {} of {}: another run, or another timer",
          rank, location.first, location.last, process.begin, process.end, process.timer));
    }
    if (adds_ && rank == 0 &&
        std::ranges::any_of(location.clock_offsets,
                            [](const trace::ClockOffset& record) { return record.offset != 0; })) {
      return misfit("its own clock records do not refer to rank 0, so they cannot be added");
    }
    // A clock that is that of rank 0 needs no records, and has none.
    if (adds_ && !process.records.empty()) {
      location.clock_offsets = added(process.records, location.clock_offsets);
    } else {
      location.clock_offsets = process.records;
    }
    return {};
  }

 private:
  [[nodiscard]] tl::unexpected<Error> misfit(const std::string& why) const {
    return input_error("the clock measurements in {} do not belong to {}: {}", folder_.string(),
                       trace_.path, why);
  }

  /// Notes which processes read one clock, as archives of the recorder do.
  void note_shared_clocks() {
    std::map<std::uint64_t, std::vector<std::size_t>> sets;
    for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
      sets[processes_[rank].clock_of].push_back(rank);
    }
    std::erase_if(sets, [](const auto& set) { return set.second.size() == 1; });
    std::vector<std::string> texts;
    for (const auto& [clock, ranks] : sets)
      texts.push_back(fmt::format("{}", fmt::join(ranks, ",")));
    auto& properties = trace_.definitions.properties;
    std::erase_if(properties, [](const auto& one) { return one.name == trace::k_property_clocks; });
    if (texts.empty()) return;
    properties.push_back({trace::k_property_clocks, fmt::format("{}", fmt::join(texts, " "))});
  }

  [[nodiscard]] Result<void> check_whole() const {
    if (trace::find_property(definitions_, trace::k_property_correction) != nullptr) {
      return misfit(
          "the archive was corrected already, and its times are no stamps of a timer; "
          "correct the original");
    }
    if (ranks_ != processes_.size()) {
      return misfit(fmt::format("the archive has {} ranks of MPI, and {} were measured", ranks_,
                                processes_.size()));
    }
    const std::uint64_t rate = definitions_.clock.resolution_hz;
    for (const Process& process : processes_) {
      const std::uint64_t own = process.ticks_per_second;
      const std::uint64_t apart = std::max(own, rate) - std::min(own, rate);
      if (apart > std::min(own, rate) / 1000) {
        return misfit(
            fmt::format("its timer has {} ticks per second, and {}, which was measured, "
                        "has {}; give --timer of the tracer to entrain record",
                        rate, process.timer, own));
      }
    }
    const auto alone = std::ranges::count_if(
        processes_, [](const Process& one) { return one.records.empty() && one.clock_of != 0; });
    if (alone == 0 && !processes_.empty()) return {};
    return misfit(fmt::format("{} of {} clocks were not measured", alone, processes_.size()));
  }

  std::filesystem::path folder_;
  bool adds_;  ///< the records of the trace stay
  trace::Trace& trace_;
  const trace::Definitions& definitions_;
  std::vector<Process> processes_;              ///< one for each rank
  std::vector<std::uint32_t> rank_of_process_;  ///< k_none: none
  std::size_t ranks_ = 0;                       ///< ranks of the trace
};

}  // namespace

Result<void> use_measurements(const std::filesystem::path& folder, ClockRecords records,
                              Team& processes, const trace::Partition& partition,
                              trace::Trace& trace) {
  Measurements measurements(folder, records == ClockRecords::add, trace);
  TRY(processes.agree(measurements.read()));
  Result<void> used;
  for (const LocationIndex l : trace::locations_of(partition, processes.rank())) {
    if (used) used = measurements.use(l);
  }
  return processes.agree(std::move(used));
}

}  // namespace entrain::clocks
