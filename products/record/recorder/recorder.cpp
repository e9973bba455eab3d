// SPDX-License-Identifier: BSD-3-Clause
// The start of a recording, and the clock sessions in it. The end is in finish.cpp.
#include "record/recorder/recorder.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "record/archive/folders.hpp"
#include "record/base/say.hpp"
#include "record/base/vt_settings.hpp"
#include "record/recorder/host.hpp"
#include "record/recorder/otf2_collectives.h"

namespace entrain::record {

Recorder& recorder() {
  static Recorder* const the_one = new Recorder;  // outlives threads that run at exit
  return *the_one;
}

namespace {

/// False, and one process has said why, if the recorder cannot record these processes.
bool can_be_recorded() {
  MPI_Comm parent = MPI_COMM_NULL;
  real.MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) return true;
  int rank = 0;
  real.MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) say("processes that the program started with MPI_Comm_spawn are not recorded");
  return false;
}

void look_at_error_handler() {
  // It need not be the standard's: launchers may ask for another one.
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  real.MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  errors_return = handler != MPI_ERRORS_ARE_FATAL;
  if (errors_return && handler != MPI_ERRORS_RETURN) real.MPI_Errhandler_free(&handler);
}

/// Prints a sentence for each complaint about settings: together they may be too long for one.
void say_each(const std::string& complaints) {
  for (std::size_t at = 0, end = 0; at < complaints.size(); at = end + 1) {
    end = std::min(complaints.find('\0', at), complaints.size());
    say(complaints.substr(at, end - at) + "; the default is used");
  }
}

bool several_threads_may_call_mpi() {
  int level = MPI_THREAD_SINGLE;
  real.MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

}  // namespace

std::string Recorder::agree_on_variables(std::string& problem) const {
  const std::string own = own_variables();
  std::string agreed = world_.text_of_first(own);
  if (!world_.all_agree(own == agreed) && world_.rank() == 0) {
    say("the variables ENTRAIN_* of the processes differ; those of rank 0 are used");
  }
  // Only rank 0 reads the file that they may name.
  const std::string all = world_.rank() == 0 ? with_vt_settings(agreed, problem) : "";
  return world_.text_of_first(all);
}

void Recorder::start() {
  // Without a folder no message may go to other processes: they may not have the recorder at all.
  const char* const folder = std::getenv("ENTRAIN_RECORD_DIR");
  if (folder == nullptr || *folder == '\0' || !can_be_recorded()) return;
  world_.join();
  // A process with settings of its own would wait for the others for ever.
  std::string problem;
  settings_ = read_settings(agree_on_variables(problem), problem);
  if (world_.rank() == 0) say_each(problem);
  look_at_error_handler();
  handles_.expect_several_threads(several_threads_may_call_mpi());
  set_up_clock();
  if (settings_.clocks_only) return start_measuring();
  if (!prepare_folders() || !open_archives()) return world_.leave();
  sessions_.set_up(session_setup());
  state = State::recording;
}

Sessions::Setup Recorder::session_setup() {
  return {.sync = settings_.sync,
          .clock_identity = clock_identity(),
          .several_threads = handles_.several_threads(),
          .mark = [this](bool stops) { mark_session(stops); }};
}

void Recorder::set_up_clock() {
  std::string problem;
  timer.set_up(settings_.timer, problem, settings_.clocks_only);
  if (!problem.empty() && world_.rank() == 0) say(problem);
  if (settings_.virtual_cluster.nodes == 0) return;
  std::uint64_t epoch = timer.now().truth;
  real.MPI_Bcast(&epoch, 1, MPI_UINT64_T, 0, world_.comm());
  timer.make_virtual(settings_.virtual_cluster, virtual_node(), epoch);
}

bool Recorder::prepare_folders() const {
  std::string problem;
  if (world_.rank() == 0) {
    problem = make_archive_folders(settings_.directory);
    if (problem.empty() && timer.is_virtual()) {
      problem = make_archive_folders(truth_folder(settings_.directory));
      if (!problem.empty()) ::rmdir(unfinished_folder(settings_.directory).c_str());
    }
  }
  int good = problem.empty() ? 1 : 0;
  world_.broadcast(&good, 1);
  if (!problem.empty()) say(problem + ". Nothing is recorded");
  return good != 0;
}

std::uint64_t Recorder::virtual_node() const {
  const auto rank = static_cast<std::uint64_t>(world_.rank());
  return rank * settings_.virtual_cluster.nodes / static_cast<std::uint64_t>(world_.size());
}

std::string Recorder::host() const {
  if (!timer.is_virtual()) return host_name();
  return host_name() + '#' + std::to_string(virtual_node());
}

ClockTree::Identity Recorder::clock_identity() const {
  std::string system = '/' + std::string(timer.name()) + '/' + system_clock_identity();
  if (timer.is_virtual()) system += '#' + std::to_string(virtual_node());
  const bool choose = settings_.sync.synced_host == Choice::automatic;
  return {.in_host = host() + (choose ? system : ""), .in_cluster = system};
}

void Recorder::start_journal() {
  const std::uint64_t at = timer.now().local;
  journal_.add({"process", std::to_string(world_.rank()), std::to_string(world_.size()), host(),
                timer.name(), std::to_string(timer.granularity()), std::to_string(realtime_ns()),
                std::to_string(at), timer.is_virtual() ? timer.description() : ""});
}

bool Recorder::open_files(std::string& problem) {
  const auto set_collectives = [this](OTF2_Archive* archive) {
    return entrain_internal_set_collectives(archive, world_.comm());
  };
  bool good = true;
  for (const bool truth : {false, true}) {
    if (truth && !timer.is_virtual()) continue;
    TraceArchive::Options options;
    options.directory = truth ? truth_folder(settings_.directory) : settings_.directory;
    options.truth = truth;
    options.buffer_bytes = settings_.buffer_bytes;
    if (!truth) {
      options.most_bytes = settings_.most_bytes;
      options.when_full = [this] { threads_.end_recording(k_limit_size); };
    }
    archives_.push_back(std::make_unique<TraceArchive>());
    good =
        good && archives_.back()->open(options, set_collectives) && archives_.back()->open_events();
  }
  if (!good) problem = "cannot write to " + settings_.directory + ": " + take_otf2_complaint();
  return good;
}

bool Recorder::add_first_thread(std::string& problem) {
  threads_.set_up(world_.rank(), settings_.most_locations);
  if (threads_.add() != nullptr) return true;
  const int why =
      archives_.back()->problem() != 0 ? archives_.back()->problem() : archives_.front()->problem();
  const std::string complaint = take_otf2_complaint();
  problem = "cannot write to " + settings_.directory + ": " +
            (why != 0 ? std::strerror(why) : complaint.c_str());
  return false;
}

bool Recorder::open_journal(std::string& problem) {
  const std::string path =
      journal_path(settings_.directory, static_cast<std::uint64_t>(world_.rank()));
  if (journal_.open(path)) return true;
  problem = "cannot write " + path + ": " + std::strerror(errno);
  return false;
}

bool Recorder::open_archives() {
  std::string problem;
  bool good = world_.all_agree(open_journal(problem)) && open_files(problem);
  start_journal();
  handles_.set_up();
  good = good && add_first_thread(problem);
  if (world_.all_agree(good)) return true;
  report_start_failure(problem);
  remove_archives();
  return false;
}

void Recorder::report_start_failure(const std::string& problem) const {
  // All may have the same trouble: the first one speaks.
  const int first = world_.smallest(problem.empty() ? world_.size() : world_.rank());
  if (first == world_.rank()) say(problem + ". Nothing is recorded");
}

void Recorder::remove_archives() {
  // The archives themselves stay open: the library would complete them.
  this_thread.location = nullptr;
  journal_.remove();
  const std::string& own = settings_.directory;
  for (const std::string& directory : {own, truth_folder(own)}) {
    const std::string events = directory + '/' + k_archive_name;
    ::unlink(buffer_path(directory, static_cast<std::uint64_t>(world_.rank())).c_str());
    world_.wait_for_all();
    if (world_.rank() != 0) continue;
    // Only empty folders go: they may hold other files.
    ::rmdir(events.c_str());
    ::rmdir(unfinished_folder(directory).c_str());
    if (directory != own) ::rmdir(directory.c_str());
  }
}

void Recorder::measure_clocks(Location& at, const std::optional<SessionSize>& due) {
  threads_.use_region(k_session_region);
  at.enter(timer.now(), k_session_region);
  sessions_.measure(due);
  at.leave(timer.now(), k_session_region);
}

void Recorder::mark_session(bool stops) {
  if (state != State::recording) return;
  Location* const at = this_location();
  if (at == nullptr) return;
  threads_.use_region(k_session_region);
  if (stops) {
    at->enter(timer.now(), k_session_region);
  } else {
    at->leave(timer.now(), k_session_region);
  }
}

void Recorder::after_collective_on(MPI_Comm handle) {
  if (state == State::measuring) {
    const bool counts = has_all(handle);
    ++this_thread.depth;
    if (counts) {
      if (const auto due = sessions_.due()) measure_clocks(due);
    }
    --this_thread.depth;
    return;
  }
  if (state != State::recording) return;
  {
    const auto lock = handles_.lock();
    const Comm* const known = handles_.comm(handle);
    const bool counts =
        known != nullptr && known->whole && (known->id == 0 || !sessions_.world_only());
    if (!counts) return;
  }
  ++this_thread.depth;
  if (const auto due = sessions_.due()) {
    Location* const at = this_location();
    // Without a place for its records the session must be held all the same: others wait.
    measure_clocks(at != nullptr ? *at : Threads::nobody(), due);
  }
  --this_thread.depth;
}

}  // namespace entrain::record
