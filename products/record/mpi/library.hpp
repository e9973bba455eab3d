// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "record/mpi/real_mpi.hpp"

namespace entrain::record {

/// Looks up the MPI library's own functions, which `real` (real_mpi.hpp) then holds. Constructors
/// of other libraries may call MPI before the recorder's own has run (Open MPI's for C++ does), so
/// every wrapper asks for `library_found` first. Calling it again does no harm.
void find_library();
extern bool library_found;

}  // namespace entrain::record
