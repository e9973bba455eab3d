// SPDX-License-Identifier: BSD-3-Clause
#include "record/mpi/library.hpp"

#include <dlfcn.h>

namespace entrain::record {

RealMpi real;
bool library_found = false;

namespace {

void find(void** function, const char* name) { *function = ::dlsym(RTLD_NEXT, name); }

}  // namespace

void find_library() {
#define ENTRAIN_FIND(name) find(reinterpret_cast<void**>(&real.name), "P" #name);
  ENTRAIN_FOR_EACH_MPI_CALL(ENTRAIN_FIND)
  library_found = true;
}

}  // namespace entrain::record
