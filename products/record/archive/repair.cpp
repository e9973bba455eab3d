// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/repair.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <resolv.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/open_input.hpp"
#include "record/archive/archive.hpp"
#include "record/archive/clock_files.hpp"
#include "record/archive/event_file.hpp"
#include "record/archive/folders.hpp"
#include "record/archive/in_child.hpp"
#include "record/archive/left_behind.hpp"
#include "record/archive/read_back.hpp"

namespace entrain::record {

namespace {

namespace fs = std::filesystem;

bool write_file(const fs::path& path, const std::string& content) {
  std::ofstream out(path, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  return !out.fail();
}

/// Returns the sentence on a directory that stays as it is: the system may deliver at the next
/// attempt the files that it refuses now.
std::string try_again(const fs::path& directory, const std::string& what) {
  return directory.string() + " is left as it is, since not all of it can be read now (" + what +
         "); try again, or remove that file";
}

/// Reads the journals and notes in the report who left one. `refused`: as Journals::refused.
std::vector<ProcessRecord> collect_journals(const fs::path& unfinished, RepairReport& report,
                                            std::string& refused) {
  Journals journals = read_journals(unfinished.string());
  refused = std::move(journals.refused);
  report.processes = journals.found;
  report.missing = journals.processes.size() - journals.found;
  report.left_out = std::move(journals.left_out);
  for (const ProcessRecord& process : journals.processes) {
    report.limited += process.limit.empty() ? 0 : 1;
  }
  return std::move(journals.processes);
}

/// Bytes of a record that its thread was stopped in, at most: not worth a word.
constexpr std::uint64_t k_one_record = 512;

/// Returns the events left of one location: those in its buffer, or in the file that is written at
/// the end of the program. Notes unreadable parts in the report, and in `refused` the parts that
/// the system did not give.
std::string events_left(const fs::path& directory, std::uint64_t id, RepairReport& report,
                        std::string& refused) {
  const std::string name = std::to_string(id) + ".evt";
  for (const std::string& path :
       {buffer_path(directory.string(), id), (directory / k_archive_name / name).string()}) {
    LeftBehind file = read_left_behind(path);
    if (!file.problem.empty()) {
      report.left_out.push_back(fs::path(path).filename().string() + ": " + file.problem);
      if (file.later) refused = report.left_out.back();
    }
    if (!file.bytes.empty()) return std::move(file.bytes);
  }
  return "";
}

/// Writes the event file of one location to `folder` and notes its events in `location`. Returns
/// "", or a sentence on failure.
std::string restore_events(const fs::path& directory, const fs::path& folder, std::uint64_t id,
                           JournalLocation& location, RepairReport& report) {
  EventSpan span;
  std::string refused;
  const std::string events =
      restored_event_file(events_left(directory, id, report, refused), k_event_chunk, span);
  if (!refused.empty()) return try_again(directory, refused);
  if (span.lost_bytes > k_one_record) {
    report.left_out.push_back(
        "location " + std::to_string(id) + ": " + std::to_string(span.lost_bytes) +
        " bytes of events" +
        (span.events == 0 ? std::string() : " behind the first " + std::to_string(span.events)) +
        ", the first of which is damaged");
  }
  location.events = span.events;
  location.first = location.truth_first = span.first;
  location.last = location.truth_last = span.last;
  if (write_file(folder / (std::to_string(id) + ".evt"), events)) return "";
  return "cannot write to " + folder.string() + "; make room and try again";
}

/// Writes all of an archive but its events. Returns "", or why it failed.
std::string write_definitions(const fs::path& folder, const Merged& merged, bool truth) {
  // The library asks for the host's address at the end. Where the C library gets no memory to
  // prepare for that, it waits for itself.
  if (::res_init() != 0 && errno == ENOMEM) throw std::bad_alloc();
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
  if (archive.close() && written) return "";
  const std::string complaint = take_otf2_complaint();
  return complaint.empty() ? "the OTF2 library failed" : complaint;
}

/// Puts the event files where readers of the archive look for them.
void arrange(const fs::path& work) {
  for (const auto& entry : fs::directory_iterator(work / "events")) {
    fs::rename(entry.path(), work / k_archive_name / entry.path().filename());
  }
}

/// Everything that was written to the file system of this folder reaches the disk. False, with
/// errno, if that fails.
bool reaches_disk(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool done = file >= 0 && ::syncfs(file) == 0;
  const int problem = errno;
  if (file >= 0) ::close(file);
  errno = problem;
  return done;
}

/// Moves the finished archive to its place, the anchor last. A loss of power leaves the unfinished
/// recording or the archive. Returns "", or a sentence on failure.
std::string move_into_place(const fs::path& from, const fs::path& to) {
  fs::create_directories(to / k_archive_name);
  for (const auto& entry : fs::directory_iterator(from / k_archive_name)) {
    fs::rename(entry.path(), to / k_archive_name / entry.path().filename());
  }
  const std::string definitions = k_archive_name + std::string(".def");
  fs::rename(from / definitions, to / definitions);
  bool done = reaches_disk(to);
  if (done) fs::rename(anchor_path(from.string()), anchor_path(to.string()));
  done = done && reaches_disk(to);
  if (done) return "";
  return "cannot write the archive to " + to.string() + ": " + std::strerror(errno);
}

/// Completes the archive in one folder from the files that its processes left there. Returns "", or
/// a sentence on failure.
std::string complete(const fs::path& directory, std::vector<ProcessRecord> processes, bool truth,
                     RepairReport& report) {
  if (const fs::path events = directory / k_archive_name; fs::is_symlink(events)) {
    return events.string() +
           " is a link, and event files would go where it leads; remove it and try again";
  }
  const fs::path work = fs::path(unfinished_folder(directory.string())) / "repaired";
  fs::remove_all(work);
  const fs::path folder = work / "events";  // the library makes the folder of the archive itself
  fs::create_directories(folder);
  for (ProcessRecord& process : processes) {
    for (auto& [id, location] : process.locations) {
      if (std::string problem = restore_events(directory, folder, id, location, report);
          !problem.empty()) {
        return problem;
      }
      report.locations += 1;
      report.events += location.events;
    }
  }
  const Merged merged(std::move(processes));
  if (const std::string problem = in_child([&] { return write_definitions(work, merged, truth); });
      !problem.empty()) {
    return "cannot write the archive to " + work.string() + ": " + problem;
  }
  if (!truth && !write_clock_files(directory.string(), merged)) {
    return "cannot write the tables of clocks to " + directory.string() +
           "; make room and try again";
  }
  const std::string anchor = anchor_path(work.string());
  arrange(work);
  if (const std::string problem = read_back(anchor); !problem.empty()) {
    return "cannot repair " + directory.string() +
           ": what is left of its files is so damaged that " + problem +
           "; remove damaged journals from " + unfinished_folder(directory.string()) +
           " and try again";
  }
  return move_into_place(work, directory);
}

/// True if a process of the program holds its journal open.
bool is_running(const fs::path& unfinished) {
  for (const auto& entry : fs::directory_iterator(unfinished)) {
    if (entry.path().extension() != ".journal") continue;
    const int file = open_input(entry.path().c_str()).descriptor;
    if (file < 0) continue;
    const bool locked = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(file);
    if (locked) return true;
  }
  return false;
}

/// Removes a folder that a complete archive does not need. Returns "", or a sentence on failure.
std::string remove_unneeded(const fs::path& folder) {
  std::error_code error;
  try {
    fs::remove_all(folder, error);
  } catch (const std::bad_alloc&) {
    error = std::make_error_code(std::errc::not_enough_memory);
  }
  if (!error) return "";
  return "the archive is complete; please remove " + folder.string() +
         ", which it does not need: " + error.message();
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
  std::string refused;
  std::vector<ProcessRecord> processes = collect_journals(unfinished, report, refused);
  if (!refused.empty()) return try_again(directory, refused);
  if (report.processes == 0) {
    std::string why = "no process left anything in " + unfinished.string();
    for (const std::string& what : report.left_out) why += " (" + what + ')';
    return why + "; there is nothing to repair";
  }
  for (ProcessRecord& process : processes) {
    if (process.size == 0) process.timer = processes.front().timer;
  }
  if (processes.front().clocks_only) {
    if (!write_clocks_only(directory.string(), processes)) {
      return "cannot write to " + directory.string() + "; make room and try again";
    }
    fs::remove_all(unfinished);
    fs::remove_all(unfinished_folder(truth_folder(directory.string())));
    report.clocks_only = true;
    return "";
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
  const std::string problem = remove_unneeded(unfinished_truth);
  return problem.empty() ? remove_unneeded(unfinished) : problem;
}

}  // namespace

std::string repair_archive(const std::string& directory, RepairReport& report) {
  try {
    return repair_in(directory, report);
  } catch (const fs::filesystem_error& error) {
    return std::string("cannot repair ") + directory + ": " + error.code().message();
  } catch (const std::bad_alloc&) {
    return std::string("cannot repair ") + directory + ": not enough memory";
  }
}

}  // namespace entrain::record
