// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "base/team.hpp"

namespace entrain::session {

/// The processes that mpirun or srun started together, for as long as this lives.
///
/// One per process, made first and destroyed last. Built with or without MPI (MPI 3.1): without,
/// and when nobody started this process as one of several, it is a team of one and MPI is never
/// called.
class MpiProcesses {
 public:
  MpiProcesses();
  ~MpiProcesses();
  MpiProcesses(const MpiProcesses&) = delete;
  MpiProcesses& operator=(const MpiProcesses&) = delete;

  [[nodiscard]] Team& team() { return *team_; }

  /// Ends all processes at once with this exit code, because this one cannot go on. Returns if it
  /// is alone.
  void abandon(int exit_code);

  /// True if a launcher started several processes but this program was built without MPI: every
  /// one of them would do the whole work.
  [[nodiscard]] static bool launched_in_vain();

 private:
  std::unique_ptr<Team> team_;
  bool initialised_ = false;
};

}  // namespace entrain::session
