// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <cstring>

#include "tool/mpi/processes.hpp"

namespace entrain::mpi {

MpiProcesses::MpiProcesses() : team_(std::make_unique<Solo>()) {}
MpiProcesses::~MpiProcesses() = default;
std::unique_ptr<Team> MpiProcesses::everybody() const { return std::make_unique<Solo>(); }
void MpiProcesses::abandon(int) {}

bool MpiProcesses::launched_in_vain() {
  for (const char* size : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* value = std::getenv(size);
    if (value != nullptr && std::strcmp(value, "1") != 0) return true;
  }
  return false;
}

}  // namespace entrain::mpi
