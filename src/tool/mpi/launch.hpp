// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdlib>
#include <string_view>

namespace entrain::mpi {

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

/// Where all processes of Open MPI run on this machine: asks for the transport that needs no
/// network, unless the user chose one. Looking for networks takes 0.2 s otherwise, more than the
/// correction of a million events. Before MPI_Init, and before there are threads.
inline void leave_networks_alone_on_one_machine() {
  const char* const all = std::getenv("OMPI_COMM_WORLD_SIZE");
  const char* const here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (all == nullptr || here == nullptr || std::string_view(all) != here) return;
  ::setenv("OMPI_MCA_pml", "ob1", 0);
}

}  // namespace entrain::mpi
