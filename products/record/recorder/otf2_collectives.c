/* SPDX-License-Identifier: BSD-3-Clause */
/* C, since the header of the OTF2 library that defines these calls is C only. */
#include "record/recorder/otf2_collectives.h"

#define OTF2_MPI_USE_PMPI
#include <otf2/OTF2_MPI_Collectives.h>

OTF2_ErrorCode entrain_internal_set_collectives(OTF2_Archive* archive, MPI_Comm comm) {
  return OTF2_MPI_Archive_SetCollectiveCallbacks(archive, comm, MPI_COMM_NULL);
}
