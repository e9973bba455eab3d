/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks of the OTF2 library, as its own header gives them. It is C. */
#include <otf2/otf2.h>

#include <otf2/OTF2_Pthread_Locks.h>

OTF2_ErrorCode entrain_internal_set_locks(OTF2_Archive* archive);

OTF2_ErrorCode entrain_internal_set_locks(OTF2_Archive* archive) {
  return OTF2_Pthread_Archive_SetLockingCallbacks(archive, NULL);
}
