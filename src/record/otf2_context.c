/* SPDX-License-Identifier: BSD-3-Clause */
/* What the OTF2 library needs from MPI and from threads, as its own headers give it. They are C.
 * The PMPI calls in here are made while the recorder is inside a call, so they are not recorded. */
#include <mpi.h>
#include <otf2/otf2.h>

#define OTF2_MPI_USE_PMPI
#include <otf2/OTF2_MPI_Collectives.h>

OTF2_ErrorCode entrain_internal_set_collectives(OTF2_Archive* archive, MPI_Comm comm);

OTF2_ErrorCode entrain_internal_set_collectives(OTF2_Archive* archive, MPI_Comm comm) {
  return OTF2_MPI_Archive_SetCollectiveCallbacks(archive, comm, MPI_COMM_NULL);
}
