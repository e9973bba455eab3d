// SPDX-License-Identifier: BSD-3-Clause
// Begin and end of the process, and the functions of entrain/record.h.
#include "record/hooks/process.hpp"

#include <pthread.h>

#include <cstdlib>

#include <entrain/record.h>

#include "record/base/say.hpp"

namespace entrain::record {

namespace {

/// A forked child is not part of the parallel program.
void forget_in_child() { state = State::over; }

__attribute__((constructor)) void load() {
  find_library();
  ::pthread_atfork(nullptr, nullptr, forget_in_child);
}

std::atomic<bool> session_begun{false}, mpi_begun{false};

/// True in one process of those that a launcher started, before MPI says which is which.
bool is_first_process() {
  for (const char* name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    if (const char* const rank = std::getenv(name)) return std::string(rank) == "0";
  }
  return true;
}

__attribute__((destructor)) void unload() {
  ++this_thread.depth;
  const char* const folder = std::getenv("ENTRAIN_RECORD_DIR");
  const bool wanted = folder != nullptr && *folder != '\0';
  if (wanted && session_begun && state == State::idle && !mpi_begun && is_first_process()) {
    say("programs that begin with MPI_Session_init and never call MPI_Init are not recorded");
  }
  recorder().abandon();
}

/// Keeps MPI calls of the recorder itself out of the records.
class Inside {
 public:
  Inside() { ++this_thread.depth; }
  ~Inside() { --this_thread.depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

/// True if a limit has ended the recording of this thread; ends its records then.
bool goes_unrecorded(Location& at) {
  if (limit_reached && !at.stopped()) at.stop(timer.now());
  return at.stopped();
}

}  // namespace

void on_session_init() {
  if (!library_found) find_library();
  session_begun = true;
}

Stamp before_init() {
  mpi_begun = true;
  if (!library_found) find_library();
  return timer.now();
}

void after_init(Region region, const Stamp& begin, int result) {
  if (result != MPI_SUCCESS || state != State::idle) return;
  recorder().start();
  if (state == State::measuring) return recorder().measure_clocks();
  if (state != State::recording) return;
  Location& at = *this_thread.location;
  const auto number = static_cast<std::uint32_t>(region);
  recorder().threads().use_region(number);
  // When the call began, this virtual clock was not set up yet.
  const Stamp entered = timer.is_virtual() ? Stamp{timer.skewed(begin.truth), begin.truth} : begin;
  at.enter(entered, number);
  at.leave(timer.now(), number);
  recorder().measure_clocks(at);
}

void before_finalize() {
  if (state == State::measuring) {
    recorder().sessions().end_meetings();
    recorder().measure_clocks();
    return recorder().finish();
  }
  if (state != State::recording) return;
  Location* const at = this_location();
  if (at == nullptr) return;
  recorder().sessions().end_meetings();
  recorder().measure_clocks(*at);
  const auto number = static_cast<std::uint32_t>(Region::MPI_Finalize);
  recorder().threads().use_region(number);
  at->enter(timer.now(), number);
  real.MPI_Barrier(MPI_COMM_WORLD);
  at->leave(timer.now(), number);
  recorder().finish();
}

void on_abort() {
  const Inside inside;
  recorder().abandon();
}

}  // namespace entrain::record

using namespace entrain::record;

extern "C" {

ENTRAIN_EXPORT int entrain_timesync(void) {
  const Inside inside;
  if (state == State::measuring) recorder().measure_clocks();
  if (state != State::recording) return 0;
  Location* const at = this_location();
  // Others wait for this process, even if it has no place for its records.
  recorder().measure_clocks(at != nullptr ? *at : Threads::nobody());
  return 0;
}

ENTRAIN_EXPORT void entrain_region_begin(const char* name) {
  const Inside inside;
  if (state != State::recording || name == nullptr) return;
  Location* const at = this_location();
  if (at == nullptr) return;
  const Writing writing(*at);
  if (!writing || goes_unrecorded(*at)) return;
  const std::uint32_t number = recorder().threads().user_region(name);
  at->user_regions.push_back(number);
  at->enter(timer.now(), number);
}

ENTRAIN_EXPORT void entrain_region_end(void) {
  Location* const at = this_thread.location;
  if (at == nullptr || at->user_regions.empty()) return;
  const Writing writing(*at);
  if (!writing || goes_unrecorded(*at)) return;
  at->leave(timer.now(), at->user_regions.back());
  at->user_regions.pop_back();
}

#undef MPI_Pcontrol
// Only a recorder gives the level a meaning: the MPI library does nothing here.
ENTRAIN_EXPORT int MPI_Pcontrol(const int level, ...) {
  const Inside inside;
  if (state != State::recording) return MPI_SUCCESS;
  Location* const at = this_location();
  if (at == nullptr) return MPI_SUCCESS;
  const Writing writing(*at);
  if (!writing || goes_unrecorded(*at)) return MPI_SUCCESS;
  if (level == 0) {
    at->pause(timer.now());
  } else {
    at->resume(timer.now());
  }
  return MPI_SUCCESS;
}
ENTRAIN_EXPORT int PMPI_Pcontrol(const int level, ...) __attribute__((alias("MPI_Pcontrol")));

// Fortran, as gfortran and its kin name them; the length of a text comes last.
ENTRAIN_EXPORT void entrain_timesync_(int* error) { *error = entrain_timesync(); }
ENTRAIN_EXPORT void entrain_region_begin_(const char* name, std::size_t length) {
  while (length > 0 && name[length - 1] == ' ') --length;
  entrain_region_begin(std::string(name, length).c_str());
}
ENTRAIN_EXPORT void entrain_region_end_(void) { entrain_region_end(); }

// The names of Intel Trace Collector, and those that Fortran compilers make of VTTIMESYNC.
ENTRAIN_EXPORT int VT_timesync(void) { return entrain_timesync(); }
ENTRAIN_EXPORT void vttimesync_(int* error) { *error = entrain_timesync(); }
ENTRAIN_EXPORT void vttimesync(int* error) __attribute__((alias("vttimesync_")));
ENTRAIN_EXPORT void vttimesync__(int* error) __attribute__((alias("vttimesync_")));
ENTRAIN_EXPORT void VTTIMESYNC(int* error) __attribute__((alias("vttimesync_")));
ENTRAIN_EXPORT void VTTIMESYNC_(int* error) __attribute__((alias("vttimesync_")));
}
