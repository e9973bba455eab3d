// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/left_behind.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/open_input.hpp"
#include "formats/otf2/format/format.hpp"
#include "record/base/rank_list.hpp"
#include "record/clocks/clock_points.hpp"

namespace entrain::record {

namespace {

namespace fs = std::filesystem;

/// More processes than any machine runs: a larger number is damage.
constexpr std::uint32_t k_most_processes = 1U << 24;

/// Processes per journal that is left: a program whose other journals are lost is smaller.
constexpr std::size_t k_most_per_journal = 1024;

/// Larger offsets are damage, and no reader takes them.
constexpr std::int64_t k_largest_offset = std::int64_t{1} << 61;

std::string number_of(std::uint64_t count, const char* what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

/// Removes from a map what `is_good` refuses and returns how many those were.
template <class Map, class Good>
std::uint64_t keep_only(Map& map, const Good& is_good) {
  return std::erase_if(map, [&](const auto& entry) { return !is_good(entry); });
}

/// Brings the journals of all processes together.
class Reader {
 public:
  Journals run(const std::string& unfinished) {
    for (const fs::path& path : journals_in(unfinished)) read(path);
    const std::uint32_t size = size_of_world();
    journals_.processes.resize(size);
    for (auto& [path, record] : found_) place(path, record);
    for (std::uint32_t rank = 0; rank < size; ++rank) complete(rank);
    for (ProcessRecord& process : journals_.processes) check_references(process);
    check_clocks();
    return std::move(journals_);
  }

 private:
  static std::vector<fs::path> journals_in(const std::string& unfinished) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(unfinished)) {
      if (entry.path().extension() == ".journal") paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }

  void leave_out(const std::string& where, const std::string& what) {
    journals_.left_out.push_back(where + ": " + what);
  }

  void read(const fs::path& path) {
    const std::string name = path.filename().string();
    const LeftBehind file = read_left_behind(path.string());
    if (!file.problem.empty()) leave_out(name, file.problem);
    if (file.later) journals_.refused = name + ": " + file.problem;
    ProcessRecord record;
    const bool whole = parse_journal(file.bytes, record);
    if (record.broken_lines > 0) {
      leave_out(name, number_of(record.broken_lines, "line") + " that cannot be understood");
    }
    if (!whole) {
      if (!file.bytes.empty()) leave_out(name, "does not say which process wrote it");
      return;
    }
    if (path.stem().string() != std::to_string(record.rank)) {
      leave_out(name, "says that process " + std::to_string(record.rank) + " wrote it");
      return;
    }
    found_.emplace_back(path, std::move(record));
  }

  /// The size that most journals name. Every process wrote a journal, so a size far beyond their
  /// number is damage; then it ends with the last process that left one.
  [[nodiscard]] std::uint32_t size_of_world() const {
    const std::size_t most_believed = k_most_per_journal * found_.size();
    std::map<std::uint32_t, std::size_t> votes;
    std::uint32_t last = 0;
    for (const auto& [path, record] : found_) {
      if (record.size > record.rank && record.size <= k_most_processes) ++votes[record.size];
      if (record.rank < most_believed) last = std::max(last, record.rank);
    }
    const auto most =
        std::max_element(votes.begin(), votes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == votes.end()) return 0;
    return most->first <= most_believed ? most->first : last + 1;
  }

  void place(const fs::path& path, ProcessRecord& record) {
    const std::string name = path.filename().string();
    if (record.rank >= journals_.processes.size()) {
      return leave_out(name, "is of a process that the others do not know");
    }
    if (record.size != journals_.processes.size()) {
      leave_out(name, "its number of processes, which is not that of the others");
    }
    ++journals_.found;
    record.size = static_cast<std::uint32_t>(journals_.processes.size());
    journals_.processes[record.rank] = std::move(record);
  }

  /// Every process has its first location, also one without a journal.
  void complete(std::uint32_t rank) {
    ProcessRecord& process = journals_.processes[rank];
    process.rank = rank;
    if (process.size == 0) process.host = "unknown";
    const std::uint64_t foreign = keep_only(
        process.locations, [&](const auto& entry) { return (entry.first & ~0U) == rank; });
    if (foreign > 0) leave_out_of(process, number_of(foreign, "location") + " of other processes");
    process.locations.try_emplace(rank, JournalLocation{"Master thread"});
  }

  void leave_out_of(const ProcessRecord& process, const std::string& what) {
    leave_out(std::to_string(process.rank) + ".journal", what);
  }

  [[nodiscard]] bool ranks_exist(const std::string& text) const {
    const std::vector<std::uint32_t> ranks = split_ranks(text);
    return (text.empty() || !ranks.empty()) &&
           std::all_of(ranks.begin(), ranks.end(),
                       [&](std::uint32_t rank) { return rank < journals_.processes.size(); });
  }

  void check_references(ProcessRecord& process) {
    std::uint64_t wrong =
        keep_only(process.groups, [&](const auto& entry) { return ranks_exist(entry.second); });
    wrong += keep_only(process.comms, [&](const auto& entry) {
      return ranks_exist(entry.second.group_a) && ranks_exist(entry.second.group_b);
    });
    if (wrong > 0) {
      leave_out_of(process, number_of(wrong, "group") + " of processes that do not exist");
    }
    const std::size_t samples = process.samples.size();
    const bool measurable = process.parent < journals_.processes.size();
    std::erase_if(process.samples, [&](const ClockSample& sample) {
      return !measurable || sample.local > otf2::k_last_time || sample.parent > otf2::k_last_time ||
             sample.round_trip > sample.local;
    });
    if (!measurable) process.parent = 0, process.measured = false;
    if (const std::size_t lost = samples - process.samples.size(); lost > 0) {
      leave_out_of(process, number_of(lost, "clock measurement") + " that cannot be");
    }
  }

  /// A process whose clock would run backward loses its measurements, and those that build on it
  /// follow from what is left.
  void check_clocks() {
    for (bool again = true; std::exchange(again, false);) {
      const auto points = clock_points(journals_.processes);
      for (std::size_t p = 0; p < points.size(); ++p) {
        ProcessRecord& process = journals_.processes[p];
        if (process.samples.empty() || runs_forward(points[p])) continue;
        leave_out_of(process, number_of(process.samples.size(), "clock measurement") +
                                  " by which its clock would run backward");
        process.samples.clear();
        again = true;
      }
    }
  }

  static bool runs_forward(const std::vector<ClockPoint>& points) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::int64_t offset = points[i].offset;
      if (offset > k_largest_offset || offset < -k_largest_offset) return false;
      if (i == 0) continue;
      const std::int64_t fall = points[i - 1].offset - offset;
      const std::uint64_t span = points[i].local - points[i - 1].local;
      if (fall > 0 && static_cast<std::uint64_t>(fall) > span) return false;
    }
    return true;
  }

  Journals journals_;
  std::vector<std::pair<fs::path, ProcessRecord>> found_;
};

/// Limit of a file that is read, bytes: it is held in memory.
std::uint64_t half_of_memory() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 2;
}

}  // namespace

LeftBehind read_left_behind(const std::string& path) {
  LeftBehind file;
  const auto refuse = [&](const std::string& why) {
    file.problem = "cannot be read: " + why;
    return file;
  };
  const OpenedInput input = open_input(path.c_str());
  file.exists = input.descriptor >= 0 || input.error_number != ENOENT;
  if (!file.exists) return file;
  if (input.descriptor < 0) {
    file.later = input.error_number != 0;
    return refuse(input.error_number == 0 ? "not a regular file"
                                          : std::strerror(input.error_number));
  }
  if (const std::uint64_t most = half_of_memory(); input.size > most) {
    ::close(input.descriptor);
    return refuse("it has " + number_of(input.size, "byte") + ", more than the " +
                  std::to_string(most) + " that can be held in memory");
  }
  const int error_number = read_and_close(input, file.bytes);
  if (error_number == 0) return file;
  file.later = true;
  return refuse(std::strerror(error_number));
}

Journals read_journals(const std::string& unfinished) { return Reader().run(unfinished); }

}  // namespace entrain::record
