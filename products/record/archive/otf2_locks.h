/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ENTRAIN_RECORD_OTF2_LOCKS_H
#define ENTRAIN_RECORD_OTF2_LOCKS_H

#include <otf2/otf2.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Gives the archive the OTF2 library's own locks of POSIX threads. */
OTF2_ErrorCode entrain_internal_set_locks(OTF2_Archive* archive);

#ifdef __cplusplus
}
#endif

#endif
