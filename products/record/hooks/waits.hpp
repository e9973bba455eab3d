// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "record/hooks/call.hpp"

namespace entrain::record {

// Calls that wait for others leave time for clock sessions with them (Meetings). These functions
// return when the call need not wait any more, or at once if no session is wanted. The call itself
// follows in any case.

/// Before a blocking receive or probe.
void wait_for_message(int source, int tag, MPI_Comm comm);
/// Before MPI_Wait and MPI_Waitall.
void wait_for_all(int count, const MPI_Request* requests);
/// Before MPI_Waitany and MPI_Waitsome.
void wait_for_one(int count, const MPI_Request* requests);

}  // namespace entrain::record
