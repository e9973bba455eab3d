// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/base/journal.hpp"
#include "record/base/process_record.hpp"
#include "record/base/settings.hpp"
#include "record/clocks/period.hpp"
#include "record/mpi/real_mpi.hpp"

namespace entrain::record {

/// Measures the clocks of all processes against that of rank 0, session by session.
///
/// The processes form a tree with rank 0 at its root. The first process of each host takes part in
/// a tree over the hosts, in which every process has up to `fanout` children. The processes of a
/// host that do not share its clock form a tree of the same kind below that first process.
///
/// In a session a process first measures against its parent, and then serves its children: one
/// exchange with each, then again from the first, until SyncSettings says stop. So the time of a
/// session grows with the logarithm of the number of processes. In an exchange the parent tells the
/// child to begin, the child sends, and the parent answers with its clock (ClockSample has an
/// example). Without the first step, waiting for the parent's attention would be part of the round
/// trip.
///
/// Example with 10 hosts and a fanout of 3: host 0 serves 1, 2 and 3; host 1 serves 4, 5 and 6;
/// host 2 serves 7, 8 and 9.
class ClockTree {
 public:
  /// The names of a process's clock.
  struct Identity {
    std::string in_host;     ///< equal in processes of a host that may share a clock
    std::string in_cluster;  ///< equal in all processes that may share one
  };
  /// Collective over `world`, before the first session.
  void set_up(const SyncSettings& settings, MPI_Comm world, const Identity& identity,
              Journal& journal);
  /// True in all processes if any of them measures its clock.
  [[nodiscard]] bool any() const { return any_; }
  /// Holds one session and notes its samples in the journal; collective over `world`. Returns the
  /// number of exchanges with each child, which a time limit may have cut short; a process without
  /// children returns what was planned.
  std::uint64_t measure(std::uint32_t session, const SessionSize& size, Journal& journal);
  /// Marks the slowest `dropped_share` of a session's samples and notes all in the journal.
  static void note(std::vector<ClockSample>& samples, double dropped_share, Journal& journal);
  /// The process against which this one measures its clock, or -1, and those that it serves; ranks
  /// in the world.
  [[nodiscard]] int parent() const { return parent_; }
  [[nodiscard]] const std::vector<int>& children() const { return children_; }
  /// The levels of the tree, or more. The same in all processes.
  [[nodiscard]] std::uint64_t most_levels() const;

 private:
  [[nodiscard]] bool host_shares_clock(MPI_Comm host) const;
  [[nodiscard]] bool cluster_shares_clock(const std::string& identity) const;
  void join_tree(MPI_Comm tree);
  [[nodiscard]] std::vector<ClockSample> ask_parent(std::uint32_t session) const;
  [[nodiscard]] std::uint64_t serve_children(const SessionSize& size) const;

  SyncSettings settings_;
  MPI_Comm world_ = MPI_COMM_NULL;
  bool measures_ = false, any_ = false;
  int parent_ = -1;            ///< rank in the world; -1: none
  std::vector<int> children_;  ///< ranks in the world
};

}  // namespace entrain::record
