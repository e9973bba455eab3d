// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdlib>

namespace entrain::session {

/// True if the environment says that a launcher of MPI programs started this process. MPI_Init of
/// a process that nobody launched takes a tenth of a second and may start daemons: not for `info`.
inline bool launched_as_mpi_process() {
  // Open MPI; MPICH, Intel MPI and Cray MPICH (PMI, PMI-2, hydra); PMIx launchers; MVAPICH.
  constexpr std::array k_signs{
      "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMI_FD", "PMIX_RANK", "MV2_COMM_WORLD_SIZE"};
  for (const char* sign : k_signs) {
    if (std::getenv(sign) != nullptr) return true;
  }
  return false;
}

}  // namespace entrain::session
