// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "base/team.hpp"

namespace entrain::mpi {

/// The processes that mpirun or srun started together, for as long as this lives.
///
/// Each process has one, made first and destroyed last. Built with or without MPI (MPI 3.1):
/// without, and when nobody started this process as one of several, it is a team of one and MPI is
/// never called.
///
/// If all are on one machine, the first one works, with a thread for each core: threads share what
/// processes must send each other. Of several machines, no more processes of each work than it has
/// cores for them: further ones would only take turns with the others, which wait for each other's
/// times all the while. Those that do not work rest. The working ones share the cores out among
/// their threads (limit_workers()).
///
/// Example: four processes on each of two machines of two cores. Two of each are the team, with one
/// thread each; the others rest. With ENTRAIN_PROCESSES=all in the environment, all work.
class MpiProcesses {
 public:
  MpiProcesses();
  ~MpiProcesses();
  MpiProcesses(const MpiProcesses&) = delete;
  MpiProcesses& operator=(const MpiProcesses&) = delete;

  /// All processes, also those that rest. Making it and its end are collective.
  [[nodiscard]] std::unique_ptr<Team> everybody() const;
  /// The processes that work; that of one process alone where this one rests.
  [[nodiscard]] Team& team() { return *team_; }

  /// This process has nothing to do but to be destroyed, which waits for the others.
  [[nodiscard]] bool rests() const { return rests_; }
  /// How many processes do so, on all machines.
  [[nodiscard]] unsigned resting() const { return resting_; }

  /// Ends all processes at once with this exit code, because this one cannot go on. Returns if it
  /// was started alone.
  void abandon(int exit_code);

  /// True if a launcher started several processes but this program was built without MPI: every
  /// one of them would do the whole work.
  [[nodiscard]] static bool launched_in_vain();

 private:
  std::unique_ptr<Team> team_;
  bool initialised_ = false;
  bool rests_ = false;
  unsigned resting_ = 0;
};

}  // namespace entrain::mpi
