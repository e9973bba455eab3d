// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/archive/archive.hpp"
#include "record/base/journal.hpp"
#include "record/base/process_record.hpp"
#include "record/base/settings.hpp"
#include "record/mpi/world.hpp"
#include "record/recorder/handles.hpp"
#include "record/recorder/sessions.hpp"
#include "record/recorder/threads.hpp"

namespace entrain::record {

/// The recording of one process, from MPI_Init to MPI_Finalize: its threads, the program's MPI
/// handles, the clock sessions, and the archives that all processes write together.
///
/// There are three locks. Handles::lock guards what MPI calls use. One inside of Threads guards
/// what threads that never call MPI use as well. One inside of Journal guards its lines; it is the
/// last one to be taken.
class Recorder {
 public:
  /// Starts recording after the library's own MPI_Init. Collective over the world; all processes
  /// record or none does.
  void start();
  /// Completes the archive, or the tables of the clocks, before the library's own MPI_Finalize.
  /// Collective over the world.
  void finish();
  /// The process ends without MPI_Finalize: writes the calling thread's records from memory to its
  /// file. The records of other threads are in files already.
  void abandon();

  Threads& threads() { return threads_; }
  Handles& handles() { return handles_; }
  Sessions& sessions() { return sessions_; }

  /// Holds a clock session, which is a region of `at`; collective over the world. `due`: the size
  /// of a periodic one.
  void measure_clocks(Location& at, const std::optional<SessionSize>& due = std::nullopt);
  /// The same while only clocks are measured, which is a region of nobody.
  void measure_clocks(const std::optional<SessionSize>& due = std::nullopt);
  /// Call it at the end of each blocking collective call of the program: a session may follow.
  void after_collective_on(MPI_Comm handle);

 private:
  // recorder.cpp
  [[nodiscard]] std::string agree_on_variables(std::string& problem) const;
  void set_up_clock();
  [[nodiscard]] bool prepare_folders() const;
  bool open_journal(std::string& problem);
  bool open_archives();
  bool open_files(std::string& problem);
  bool add_first_thread(std::string& problem);
  /// Collective: removes what open_archives made before it failed.
  void remove_archives();
  void start_journal();
  void mark_session(bool stops);
  [[nodiscard]] std::uint64_t virtual_node() const;
  [[nodiscard]] std::string host() const;
  [[nodiscard]] ClockTree::Identity clock_identity() const;
  /// Collective: the first process with a `problem` says it.
  void report_start_failure(const std::string& problem) const;

  // clocks_only.cpp
  void start_measuring();
  void finish_measuring();
  /// True if a communicator of the program has all processes, in the order of the world.
  [[nodiscard]] bool has_all(MPI_Comm handle);
  [[nodiscard]] Sessions::Setup session_setup();

  // finish.cpp
  [[nodiscard]] bool write_archives();
  /// On rank 0: reports which processes have reached a limit.
  void report_limits(const std::vector<ProcessRecord>& processes) const;
  /// Collective: one process says why the archive is incomplete; it is the first that knows.
  void report_failure(bool good) const;
  void leave_unfinished();
  void remove_unfinished();

  Settings settings_;
  World world_;
  Journal journal_;
  Archives archives_;  ///< the second one, with virtual clocks only, holds true times
  Threads threads_{journal_, archives_};
  Handles handles_{world_, journal_};
  Sessions sessions_{world_, journal_};
  int has_all_key_ = MPI_KEYVAL_INVALID;  ///< key of the attribute that keeps has_all()
};

/// The one recorder of this process; never destroyed.
Recorder& recorder();

/// Its handles.
inline Handles& handles() { return recorder().handles(); }

/// The location of the calling thread, or what Threads::add returns.
inline Location* this_location() {
  return this_thread.location != nullptr ? this_thread.location : recorder().threads().add();
}

}  // namespace entrain::record
