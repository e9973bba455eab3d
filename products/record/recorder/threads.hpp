// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/archive/archive.hpp"
#include "record/base/journal.hpp"
#include "record/mpi/regions.hpp"
#include "record/recorder/location.hpp"
#include "record/recorder/state.hpp"

namespace entrain::record {

/// Local numbers of the recorder's own region and of the first user region.
inline constexpr std::uint32_t k_session_region = static_cast<std::uint32_t>(Region::count);
inline constexpr std::uint32_t k_first_user_region = k_session_region + 1;

using Archives = std::vector<std::unique_ptr<TraceArchive>>;

/// The threads of the program, a location for each, and the regions in which they are. Any thread
/// may call its functions at any time, unless they say otherwise: threads that never call MPI mark
/// regions too, at every thread level of MPI.
class Threads {
 public:
  /// Locations get a writer from each of `archives`.
  Threads(Journal& journal, const Archives& archives) : journal_(journal), archives_(archives) {}

  /// Once, before the first thread. `most` locations are recorded; 0: no limit.
  void set_up(int rank, std::uint64_t most);

  /// The location of the calling thread, made at its first call; null if that failed or the
  /// recording is over. A new thread continues the location of one that has ended: otherwise
  /// threads that come and go would need memory and files without end. After a limit is reached,
  /// all new threads get nobody().
  Location* add();
  /// A location to which nothing is written, shared by any number of threads. The recorder follows
  /// even them, since other processes wait for their calls.
  static Location& nobody();
  /// The thread of this location has ended.
  void over(Location& at);

  /// Notes that a region of MPI, or k_session_region, occurs. Cheap after the first time.
  void use_region(std::uint32_t region) {
    if (!used_[region].load(std::memory_order_relaxed)) first_use(region);
  }
  /// Local number of a user region.
  std::uint32_t user_region(const char* name);

  /// The limit k_limit_* is reached: recording ends in this process.
  void end_recording(const char* limit);

  /// Sets the state to over, and waits until no thread writes any more. MPI_Finalize does not end
  /// threads that mark regions.
  void stop();
  /// After stop(): notes in the journal what every location holds. False if one of them could not
  /// write all of its records.
  bool close();

 private:
  void first_use(std::uint32_t region);
  Location* reuse();
  Location* create();

  Journal& journal_;
  const Archives& archives_;
  std::uint64_t rank_ = 0, most_ = 0;
  std::mutex mutex_;  ///< guards locations_, left_ and user_regions_
  std::vector<std::unique_ptr<Location>> locations_;
  std::vector<Location*> left_;  ///< those whose threads have ended
  std::unordered_map<std::string, std::uint32_t> user_regions_;
  std::atomic<bool> used_[k_session_region + 1] = {};
};

/// Guards writing to a location outside of MPI calls. Another thread may end the recording in
/// MPI_Finalize meanwhile, and Threads::stop waits for this one.
class Writing {
 public:
  explicit Writing(Location& at) : at_(at) {
    at_.busy = true;
    allowed_ = state == State::recording;
  }
  ~Writing() { at_.busy = false; }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  explicit operator bool() const { return allowed_; }

 private:
  Location& at_;
  bool allowed_;
};

}  // namespace entrain::record
