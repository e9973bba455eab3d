// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "record/base/partners.hpp"
#include "record/mpi/real_mpi.hpp"

namespace entrain::record {

/// The neighbours in the topology of a communicator, in the order in which neighbourhood
/// collectives number them; nobody if there is no topology.
Partners neighbours_of(MPI_Comm comm);

}  // namespace entrain::record
