// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/archive.hpp"
#include "record/handles.hpp"
#include "record/journal.hpp"
#include "record/location.hpp"
#include "record/period.hpp"
#include "record/real_mpi.hpp"
#include "record/regions.hpp"
#include "record/session.hpp"
#include "record/settings.hpp"

namespace entrain::record {

/// Local numbers of the recorder's own regions and of the first user region.
inline constexpr std::uint32_t k_session_region = static_cast<std::uint32_t>(Region::count);
inline constexpr std::uint32_t k_first_user_region = k_session_region + 1;

/// Says `sentence` on standard error, once per call.
void say(const std::string& sentence);

/// True once this process has reached a limit that was set: no thread records anything from its
/// next call on.
inline std::atomic<bool> limit_reached{false};

/// True once calls that fail may return to the program: it has asked for that on some communicator,
/// from which others inherit it.
inline std::atomic<bool> errors_return{false};

/// What one process records, from MPI_Init to MPI_Finalize.
class Recorder {
 public:
  /// Starts recording after the library's own MPI_Init. Collective over the world; whether it
  /// records is the same in all processes.
  void start();
  /// Completes the archive before the library's own MPI_Finalize. Collective over the world.
  void finish();
  /// The process ends without MPI_Finalize: writes out what the calling thread has in memory. What
  /// others have lies in files already.
  void abandon();

  /// The records of the calling thread, made at its first call; null if that failed. A thread goes
  /// on where one that has ended left off: threads that come and go would need memory and files
  /// without end. Beyond a limit it is that of nobody().
  Location* add_thread();
  /// A location of any number of threads to which nothing is written. What they do must be followed
  /// all the same: other processes count on it.
  static Location& nobody();
  /// The thread of this location ends.
  void thread_over(Location& at);
  /// Notes that a region of the table occurs. Cheap.
  void use_region(std::uint32_t region) {
    if (!used_[region].load(std::memory_order_relaxed)) first_use(region);
  }
  /// Local number of a user region.
  std::uint32_t user_region(const char* name);

  /// Measures the clocks; collective over the world. `periodic`: nobody asked for it.
  void measure_clocks(Location& at, bool periodic = false);
  /// The end of a blocking collective call of the program; some are followed by a session.
  void after_collective_on(MPI_Comm handle);

  /// Communicator of a handle, or null if it is not recorded. Valid until it is freed.
  Comm* comm(MPI_Comm handle) {
    const auto found = comms_.find(key_of(handle));
    return found == comms_.end() || found->second->foreign ? nullptr : found->second.get();
  }
  /// Takes a new communicator down under `key`, as made from or by way of `parent`, if that is
  /// recorded; null if it cannot be recorded. Its members are those of `like`, if given: a handle
  /// that is not usable yet cannot be asked.
  Comm* add_comm(MPI_Comm handle, const std::string& key, const Comm* parent = nullptr,
                 MPI_Comm like = MPI_COMM_NULL);
  /// A key out of `prefix` and the members of a communicator.
  std::string members_key(const std::string& prefix, MPI_Comm handle) const;
  void forget_comm(MPI_Comm handle) { comms_.erase(key_of(handle)); }
  void name_comm(const Comm& comm, const std::string& name);

  /// Window of a handle, or null if it is not recorded.
  Window* window(std::uint64_t key) {
    const auto found = windows_.find(key);
    return found == windows_.end() ? nullptr : &found->second;
  }
  /// Takes a new window over the members of `comm` down.
  Window& add_window(std::uint64_t key, Comm& comm);
  void forget_window(std::uint64_t key) { windows_.erase(key); }
  void name_window(const Window& window, const std::string& name);
  /// Local number of a group of processes of the world.
  std::uint32_t group(MPI_Group handle);

  RequestTable requests;
  std::unordered_map<std::uint64_t, Pending> messages;      ///< matched probes by message handle
  std::unordered_map<std::string, std::uint64_t> ordinals;  ///< of calls that share a key
  [[nodiscard]] std::uint64_t next_number() { return next_number_++; }

  /// Protects communicators, windows, requests and what belongs to them where several threads may
  /// call MPI at once. Never held while processes talk to each other: a thread that waits for it
  /// may be the one that another process waits for.
  std::unique_lock<std::recursive_mutex> lock() {
    return several_threads_ ? std::unique_lock(mutex_) : std::unique_lock(mutex_, std::defer_lock);
  }
  [[nodiscard]] bool several_threads() const { return several_threads_; }
  [[nodiscard]] int rank() const { return rank_; }

 private:
  /// The variables of rank 0, for all.
  [[nodiscard]] std::string agree_on_variables() const;
  void leave_world();
  void look_at_error_handler() const;
  bool set_up_clock(const Settings& settings);
  bool prepare_folders();
  bool open_archives();
  /// Collective: removes what open_archives has made before it failed.
  void remove_archives();
  bool all_agree(bool good) const;
  void start_journal();
  [[nodiscard]] std::uint64_t virtual_node() const;
  [[nodiscard]] std::string host() const;
  [[nodiscard]] std::string clock_identity() const;
  void first_use(std::uint32_t region);
  /// The limit k_limit_* is reached.
  void end_recording(const char* limit);
  /// On rank 0: tells of the processes that have reached a limit.
  void tell_of_limits(const std::vector<ProcessRecord>& processes) const;
  /// From now on no thread writes: MPI_Finalize does not end those that mark regions.
  void stop_threads();
  void close_threads();
  [[nodiscard]] bool write_archives();
  void settle(bool good, bool all_good);

  /// Ranks in the world; those of others only of an inter-communicator.
  struct Members {
    std::vector<int> own, others;
  };
  [[nodiscard]] Members members_of(MPI_Comm handle) const;

  Settings settings_;
  int rank_ = 0, size_ = 0;
  MPI_Comm world_ = MPI_COMM_NULL;  ///< a copy that the program does not know
  MPI_Group world_group_ = MPI_GROUP_NULL;
  bool several_threads_ = false;
  std::recursive_mutex mutex_;
  Journal journal_;
  std::vector<std::unique_ptr<TraceArchive>> archives_;  ///< the second one holds true times
  /// Protects what threads that never call MPI come to as well: locations_, left_ and
  /// user_regions_. With any level of threads these may mark regions.
  std::mutex threads_mutex_;
  std::vector<std::unique_ptr<Location>> locations_;
  std::vector<Location*> left_;  ///< those whose threads have ended
  std::unordered_map<std::uint64_t, std::unique_ptr<Comm>> comms_;
  std::unordered_map<std::uint64_t, Window> windows_;
  std::unordered_map<std::string, std::uint32_t> user_regions_;
  std::unordered_map<std::string, std::uint32_t> groups_;
  std::atomic<bool> used_[k_session_region + 1] = {};
  std::uint32_t next_comm_ = 0, next_window_ = 0;
  std::uint64_t next_number_ = 1;
  // Of collective calls over all processes, which are made one after the other: no lock.
  ClockSessions sessions_;
  Period period_;
  bool whole_world_only_ = false;  ///< calls over copies of the world do not count for it
  std::string whole_world_;        ///< its ranks, as of join_ranks
  std::uint32_t session_count_ = 0;
};

/// The one recorder of this process; never destroyed.
Recorder& recorder();

/// Finds the library's own functions, once. Constructors of other libraries, Open MPI's for C++ for
/// example, call MPI before this one's have run.
void find_library();
extern bool library_found;

enum class State : int { idle, recording, over };
extern std::atomic<State> state;

/// Writing to a location outside of the calls of MPI, which may go on while another thread ends the
/// recording in MPI_Finalize.
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

/// What a thread knows of itself.
struct ThreadState {
  Location* location = nullptr;
  int depth = 0;  ///< calls of MPI it is inside of
};
extern thread_local ThreadState this_thread __attribute__((tls_model("initial-exec")));

/// The location of the calling thread, or what add_thread() says.
inline Location* this_location() {
  return this_thread.location != nullptr ? this_thread.location : recorder().add_thread();
}

/// Stands before a Call and speaks after it: a blocking collective call of the program is over.
class CollectiveOver {
 public:
  explicit CollectiveOver(MPI_Comm comm) : comm_(comm) {}
  ~CollectiveOver() {
    if (periodic.load(std::memory_order_relaxed) && this_thread.depth == 0) {
      recorder().after_collective_on(comm_);
    }
  }
  CollectiveOver(const CollectiveOver&) = delete;
  CollectiveOver& operator=(const CollectiveOver&) = delete;
  /// True while there are sessions of that kind.
  static inline std::atomic<bool> periodic{false};

 private:
  MPI_Comm comm_;
};

/// One call of MPI by the program: writes enter when made, leave when destroyed. A call from inside
/// another one, by the library or by the recorder, is none and stays false.
class Call {
 public:
  explicit Call(Region region) : Call(static_cast<std::uint32_t>(region)) {}
  explicit Call(std::uint32_t region) : region_(region) {
    if (!library_found) [[unlikely]]
      find_library();
    if (this_thread.depth++ != 0 || state.load(std::memory_order_relaxed) != State::recording) {
      return;
    }
    at_ = this_location();
    if (at_ == nullptr) return;
    recorder().use_region(region);
    time_ = timer.now();
    if (limit_reached.load(std::memory_order_relaxed)) [[unlikely]]
      at_->stop(time_);
    at_->enter(time_, region);
  }
  ~Call() {
    --this_thread.depth;
    if (at_ == nullptr) return;
    if (!done_) done();
    at_->leave(time_, region_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  explicit operator bool() const { return at_ != nullptr; }
  /// The library's function has returned: from now on time() is the end of the call.
  void done() {
    done_ = true;
    time_ = timer.now();
  }
  [[nodiscard]] const Stamp& time() const { return time_; }
  Location& at() { return *at_; }
  /// False while the program has switched recording off.
  [[nodiscard]] bool recorded() const { return !at_->paused(); }

 private:
  std::uint32_t region_;
  Location* at_ = nullptr;
  Stamp time_;
  bool done_ = false;
};

}  // namespace entrain::record
