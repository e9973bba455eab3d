/* SPDX-License-Identifier: BSD-3-Clause */
/* C, since the header of the OTF2 library that defines its locks is C only. */
#include "record/archive/otf2_locks.h"

#include <otf2/OTF2_Pthread_Locks.h>

OTF2_ErrorCode entrain_internal_set_locks(OTF2_Archive* archive) {
  return OTF2_Pthread_Archive_SetLockingCallbacks(archive, NULL);
}
