// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/journal.hpp"
#include "record/real_mpi.hpp"
#include "record/settings.hpp"

namespace entrain::record {

/// Measures the clocks of all processes against that of rank 0, session by session.
///
/// The first processes of the nodes form a tree of which every process has up to `fanout` children;
/// the processes of a node that do not share its clock form one below them. A process measures
/// against its parent, and serves its children afterwards: one exchange with each, then again from
/// the first, until SyncSettings says stop. So a session takes a number of rounds that grows with
/// the logarithm of the number of processes. Per exchange the parent tells the child to begin (the
/// child would else wait for its turn inside of the round trip), the child sends, the parent
/// answers with its clock.
class ClockSessions {
 public:
  /// Collective over `world`, before the first session. `identity` names this process' clock: it is
  /// equal where clocks may be the same.
  void set_up(const SyncSettings& settings, MPI_Comm world, const std::string& identity,
              Journal& journal);
  /// True in all processes if any of them measures its clock.
  [[nodiscard]] bool any() const { return any_; }
  /// One session; collective over `world`.
  void measure(std::uint32_t session, Journal& journal);

 private:
  [[nodiscard]] bool host_shares_clock(MPI_Comm node) const;
  [[nodiscard]] bool check_shared_clock(MPI_Comm node) const;
  void join_tree(MPI_Comm tree);
  [[nodiscard]] std::vector<ClockSample> ask_parent(std::uint32_t session) const;
  void serve_children() const;

  SyncSettings settings_;
  MPI_Comm world_ = MPI_COMM_NULL;
  bool measures_ = false, any_ = false;
  int parent_ = -1;  ///< rank in the world, or -1
  std::vector<int> children_;
};

}  // namespace entrain::record
