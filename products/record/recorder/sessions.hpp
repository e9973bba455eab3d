// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "record/base/journal.hpp"
#include "record/base/settings.hpp"
#include "record/base/timer.hpp"
#include "record/clocks/budget.hpp"
#include "record/clocks/meetings.hpp"
#include "record/clocks/period.hpp"
#include "record/mpi/world.hpp"
#include "record/recorder/clock_tree.hpp"
#include "record/recorder/mailbox.hpp"

namespace entrain::record {

/// The clock sessions of a run: numbers them, and decides on those for which the program did not
/// ask. Measuring is the business of ClockTree, the times are that of Period.
///
/// Where collective calls over all processes do not come for a period, two processes measure each
/// other when both have time (Meetings): between calls and in calls that wait, or, where several
/// threads may call MPI, in a thread of the recorder.
///
/// All processes call measure() and due() one after the other, in the same order. A lock keeps
/// measure() and the recorder's thread apart. Who holds it has said `gone`, or is in a session with
/// a process that will end it.
class Sessions {
 public:
  Sessions(const World& world, Journal& journal) : world_(world), journal_(journal) {}

  struct Setup {
    SyncSettings sync;
    ClockTree::Identity clock_identity;
    bool several_threads = false;  ///< this process has several threads
    /// The calling thread stops its own work for a session (true), and goes on with it (false).
    std::function<void(bool stops)> mark;
  };
  /// Once, before the first session.
  void set_up(Setup setup) { setup_ = std::move(setup); }

  /// Holds a session: one that due() asked for, of that size, or one that the program asks for.
  /// Collective over the world.
  void measure(const std::optional<SessionSize>& due = std::nullopt);
  /// True while there are periodic sessions. Any thread may read it.
  static inline std::atomic<bool> periodic{false};
  /// At the end of a blocking collective call over all processes: in all of them the size of the
  /// session that they are to hold now, if any.
  std::optional<SessionSize> due();
  /// True if only calls on MPI_COMM_WORLD count for due(). Where several threads call MPI, those of
  /// two processes may reach two communicators in different orders; on one there is one order.
  [[nodiscard]] bool world_only() const { return world_only_; }

  static constexpr std::uint64_t k_never = ~std::uint64_t{0};
  /// From this time on (Stamp::truth) between_calls() and wait() have something to do. Any thread
  /// may read it.
  static inline std::atomic<std::uint64_t> next_look{k_never};
  /// Between two calls of MPI: may hold a session with one other process.
  void between_calls();
  /// Returns as soon as `done()`, of which a call of the program asks for. Until then this process
  /// has time for sessions.
  void wait(const std::function<bool()>& done);
  /// Ends sessions of two processes, before the last one of all. Collective over the world.
  void end_meetings();
  /// The process ends without others: nobody is waited for any more.
  void abandon();

  /// The cost of periodic sessions for this process, rank 0, in one sentence; "" if they are off.
  [[nodiscard]] std::string cost() const;

 private:
  void set_up_first();
  void set_up_meetings();
  void keep(std::vector<ClockSample>& samples);
  void meet_in_thread();
  void look_not_before(std::uint64_t time);

  const World& world_;
  Journal& journal_;
  Setup setup_;
  ClockTree tree_;
  Budget budget_;
  Period period_;
  Mailbox mailbox_;
  Meetings meetings_;
  bool world_only_ = false, meets_ = false;
  std::uint64_t period_ns_ = 0;
  std::uint32_t count_ = 0, rests_ = 0;
  std::mutex mutex_;  ///< guards meetings_, mailbox_ and count_: the thread and measure() use them
  std::thread thread_;
  std::atomic<std::uint64_t> next_step_{0};  ///< next step of the thread, Stamp::truth
  std::atomic<bool> stop_{false}, abandoned_{false}, thread_over_{true};
};

}  // namespace entrain::record
