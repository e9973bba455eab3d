// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/repair.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "record/archive/archive.hpp"
#include "record/archive/clock_files.hpp"
#include "record/archive/event_file.hpp"
#include "record/archive/folders.hpp"

namespace entrain::record {

namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool write_file(const fs::path& path, const std::string& content) {
  std::ofstream out(path, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  return !out.fail();
}

/// The journals of all processes, by rank. A process without one gets an empty record.
std::vector<ProcessRecord> read_journals(const fs::path& unfinished, RepairReport& report) {
  std::vector<ProcessRecord> found;
  for (const auto& entry : fs::directory_iterator(unfinished)) {
    ProcessRecord record;
    if (entry.path().extension() == ".journal" && parse_journal(read_file(entry.path()), record)) {
      found.push_back(std::move(record));
    }
  }
  std::uint32_t size = 0;
  for (const ProcessRecord& record : found) size = std::max({size, record.size, record.rank + 1});
  std::vector<ProcessRecord> processes(size);
  for (ProcessRecord& record : found) {
    const std::uint32_t rank = record.rank;
    processes[rank] = std::move(record);
  }
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    ProcessRecord& process = processes[rank];
    report.missing += process.size == 0 ? 1 : 0;
    report.limited += process.limit.empty() ? 0 : 1;
    if (process.size == 0) process.host = "unknown";
    process.rank = rank;
    process.locations.try_emplace(rank, JournalLocation{"Master thread"});
  }
  report.processes = size - report.missing;
  return processes;
}

/// Writes the event file of one location to `folder` and notes its events in `location`.
bool restore_events(const fs::path& directory, const fs::path& folder, std::uint64_t id,
                    JournalLocation& location) {
  const std::string buffer = read_file(buffer_path(directory.string(), id));
  const std::string name = std::to_string(id) + ".evt";
  EventSpan span;
  const std::string events = restored_event_file(
      buffer.empty() ? read_file(directory / k_archive_name / name) : buffer, k_event_chunk, span);
  location.events = span.events;
  location.first = location.truth_first = span.first;
  location.last = location.truth_last = span.last;
  return write_file(folder / name, events);
}

bool write_definitions(const fs::path& folder, const Merged& merged, bool truth) {
  std::vector<TraceArchive::LocalDefinitions> local;
  for (std::size_t p = 0; p < merged.processes().size(); ++p) {
    local.push_back({merged.processes()[p].locations, merged.local_plan(p)});
  }
  TraceArchive::Options options;
  options.directory = folder.string();
  options.mapped = false;
  options.truth = truth;
  TraceArchive archive;
  const bool written = archive.open(options, OTF2_Archive_SetSerialCollectiveCallbacks) &&
                       archive.open_events() && archive.write_local_definitions(local) &&
                       archive.write_global_definitions(merged);
  return archive.close() && written;
}

/// Moves the finished archive to its place, the anchor last.
void move_into_place(const fs::path& from, const fs::path& to) {
  fs::create_directories(to / k_archive_name);
  for (const char* folder : {"events", k_archive_name}) {
    for (const auto& entry : fs::directory_iterator(from / folder)) {
      fs::rename(entry.path(), to / k_archive_name / entry.path().filename());
    }
  }
  const std::string definitions = k_archive_name + std::string(".def");
  fs::rename(from / definitions, to / definitions);
  fs::rename(anchor_path(from.string()), anchor_path(to.string()));
}

/// Completes the archive in one folder from the files that its processes left there. Returns "", or
/// a sentence on failure.
std::string complete(const fs::path& directory, std::vector<ProcessRecord> processes, bool truth,
                     RepairReport& report) {
  const fs::path work = fs::path(unfinished_folder(directory.string())) / "repaired";
  fs::remove_all(work);
  const fs::path folder = work / "events";  // the library makes the folder of the archive itself
  fs::create_directories(folder);
  for (ProcessRecord& process : processes) {
    for (auto& [id, location] : process.locations) {
      if (!restore_events(directory, folder, id, location)) {
        return "cannot write to " + folder.string() + "; make room and try again";
      }
      report.locations += 1;
      report.events += location.events;
    }
  }
  const Merged merged(std::move(processes));
  if (!write_definitions(work, merged, truth) ||
      (!truth && !write_clock_files(directory.string(), merged))) {
    return "cannot write the archive to " + work.string() + ": " + take_otf2_complaint();
  }
  move_into_place(work, directory);
  return "";
}

/// True if a process of the program holds its journal open.
bool is_running(const fs::path& unfinished) {
  for (const auto& entry : fs::directory_iterator(unfinished)) {
    if (entry.path().extension() != ".journal") continue;
    const int file = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    const bool locked = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(file);
    if (locked) return true;
  }
  return false;
}

bool has_anchor(const fs::path& directory) { return fs::exists(anchor_path(directory.string())); }

std::string repair_in(const fs::path& directory, RepairReport& report) {
  const fs::path unfinished = unfinished_folder(directory.string());
  if (has_anchor(directory)) {
    return directory.string() + " holds a complete archive; there is nothing to repair";
  }
  if (!fs::is_directory(unfinished)) {
    return directory.string() +
           " holds no unfinished recording; give the folder that entrain "
           "record -o named";
  }
  // A launcher may return a moment before its last process has ended.
  for (int i = 0; i < 5 && is_running(unfinished); ++i) ::usleep(100'000);
  if (is_running(unfinished)) {
    return "the program that is recorded in " + directory.string() +
           " is running; repair when it has ended";
  }
  std::vector<ProcessRecord> processes = read_journals(unfinished, report);
  if (report.processes == 0) {
    return "no process left anything in " + unfinished.string() + "; there is nothing to repair";
  }
  for (ProcessRecord& process : processes) {
    if (process.size == 0) process.timer = processes.front().timer;
  }
  // The archive with true times comes first: as long as the other one has no anchor, a second
  // attempt is possible.
  const fs::path truth = truth_folder(directory.string());
  const fs::path unfinished_truth = unfinished_folder(truth.string());
  if (fs::is_directory(unfinished_truth) && !has_anchor(truth)) {
    RepairReport ignored;
    if (auto problem = complete(truth, processes, true, ignored); !problem.empty()) return problem;
    report.truth = true;
  }
  if (auto problem = complete(directory, processes, false, report); !problem.empty()) {
    return problem;
  }
  fs::remove_all(unfinished);
  fs::remove_all(unfinished_truth);
  return "";
}

}  // namespace

std::string repair_archive(const std::string& directory, RepairReport& report) {
  try {
    return repair_in(directory, report);
  } catch (const fs::filesystem_error& error) {
    return std::string("cannot repair ") + directory + ": " + error.code().message();
  }
}

}  // namespace entrain::record
