// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "record/hooks/call.hpp"

namespace entrain::record {

/// A communicator that is about to be freed.
struct Freed {
  bool known = false;
  std::uint32_t id = 0;
};

Collective new_comm_on(MPI_Comm comm);
void after_new_comm(Call& call, int result, const Collective& what, MPI_Comm comm,
                    const MPI_Comm* newcomm);
void after_comm_idup(Call& call, int result, std::uint64_t number, const Collective& what,
                     MPI_Comm comm, const MPI_Comm* newcomm, const MPI_Request* request);
void after_comm_create_group(Call& call, int result, MPI_Comm comm, int tag,
                             const MPI_Comm* newcomm);
/// `bridge`: the communicator through which the leaders of the two groups talk.
void after_intercomm_create(Call& call, int result, int local_leader, MPI_Comm bridge, int tag,
                            const MPI_Comm* newcomm);
/// After a call whose new communicator may have members outside of the recorded world.
void after_foreign_comm(Call& call, int result, const MPI_Comm* newcomm);
Freed on_free_comm(const MPI_Comm* comm);
void after_free_comm(Call& call, int result, const Freed& freed);
void after_comm_set_name(int result, MPI_Comm comm, const char* name);

}  // namespace entrain::record
