/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ENTRAIN_RECORD_OTF2_COLLECTIVES_H
#define ENTRAIN_RECORD_OTF2_COLLECTIVES_H

#include <mpi.h>
#include <otf2/otf2.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the OTF2 library use `comm` where the processes that write the archive talk to each other.
 * It calls PMPI, while the recorder is inside a call, so these calls are not recorded. */
OTF2_ErrorCode entrain_internal_set_collectives(OTF2_Archive* archive, MPI_Comm comm);

#ifdef __cplusplus
}
#endif

#endif
