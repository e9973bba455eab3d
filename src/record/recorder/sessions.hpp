// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "record/base/journal.hpp"
#include "record/base/settings.hpp"
#include "record/base/timer.hpp"
#include "record/clocks/period.hpp"
#include "record/mpi/world.hpp"
#include "record/recorder/clock_tree.hpp"

namespace entrain::record {

/// The clock sessions of a run: numbers them, and decides on those for which the program did not
/// ask. Measuring is the business of ClockTree, the times are that of Period. All processes call
/// its functions one after the other, in the same order, so it needs no lock.
class Sessions {
 public:
  Sessions(const World& world, Journal& journal) : world_(world), journal_(journal) {}

  struct Setup {
    SyncSettings sync;
    ClockTree::Identity clock_identity;
    bool several_threads = false;  ///< in this process
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
  std::optional<SessionSize> due() { return period_.due(); }
  /// True if only calls on MPI_COMM_WORLD count for due(). Where several threads call MPI, those of
  /// two processes may reach two communicators in different orders; on one there is one order.
  [[nodiscard]] bool world_only() const { return world_only_; }
  /// The cost of periodic sessions for this process, in one sentence; "" if they are off.
  [[nodiscard]] std::string cost() const { return period_.cost(); }

 private:
  void set_up_first();

  const World& world_;
  Journal& journal_;
  Setup setup_;
  ClockTree tree_;
  Period period_;
  bool world_only_ = false;
  std::uint32_t count_ = 0;
};

}  // namespace entrain::record
