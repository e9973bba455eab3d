// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "record/base/timer.hpp"
#include "record/mpi/library.hpp"
#include "record/mpi/regions.hpp"
#include "record/recorder/recorder.hpp"

namespace entrain::record {

/// Declared before the Call of a blocking collective call, so destroyed after it: then a periodic
/// clock session may follow.
class CollectiveOver {
 public:
  explicit CollectiveOver(MPI_Comm comm) : comm_(comm) {}
  ~CollectiveOver() {
    if (Sessions::periodic.load(std::memory_order_relaxed) && this_thread.depth == 0) {
      recorder().after_collective_on(comm_);
    }
  }
  CollectiveOver(const CollectiveOver&) = delete;
  CollectiveOver& operator=(const CollectiveOver&) = delete;

 private:
  MPI_Comm comm_;
};

/// A call of MPI by the program: writes the enter record when constructed, the leave record when
/// destroyed. Calls that the library or the recorder makes inside of another call are not recorded:
/// the object is false then.
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
    recorder().threads().use_region(region);
    time_ = timer.now();
    if (limit_reached.load(std::memory_order_relaxed)) [[unlikely]]
      at_->stop(time_);
    at_->enter(time_, region);
  }
  ~Call() {
    --this_thread.depth;
    if (at_ != nullptr) {
      if (!done_) done();
      at_->leave(time_, region_);
    }
    if (Sessions::next_look.load(std::memory_order_relaxed) <= time_.truth) [[unlikely]]
      look_for_sessions();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  explicit operator bool() const { return at_ != nullptr; }
  /// Call it when the library's function has returned: from now on time() is the end of the call.
  void done() {
    done_ = true;
    time_ = timer.now();
  }
  /// The begin of the call, and its end after done().
  [[nodiscard]] const Stamp& time() const { return time_; }
  Location& at() { return *at_; }
  /// False while the program has switched recording off.
  [[nodiscard]] bool recorded() const { return !at_->paused(); }

 private:
  static void look_for_sessions() {
    if (this_thread.depth != 0) return;
    ++this_thread.depth;
    recorder().sessions().between_calls();
    --this_thread.depth;
  }

  /// Nobody reads the time where only clocks are measured.
  static constexpr std::uint64_t k_unknown_time = Sessions::k_never - 1;

  std::uint32_t region_;
  Location* at_ = nullptr;
  Stamp time_{0, k_unknown_time};
  bool done_ = false;
};

}  // namespace entrain::record
