// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace entrain::test {

/// Sets the environment in which MPI launchers start anything on this machine: as root, with more
/// processes than cores, under a sanitizer. Any number of tests may run at the same time.
void prepare_mpi();

}  // namespace entrain::test
