/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls VTTIMESYNC under every name that Fortran compilers make of it. */
#include <mpi.h>

void vttimesync(int* error);
void vttimesync_(int* error);
void vttimesync__(int* error);
void VTTIMESYNC(int* error);
void VTTIMESYNC_(int* error);

int main(int count, char** words) {
  void (*const names[])(int*) = {vttimesync, vttimesync_, vttimesync__, VTTIMESYNC, VTTIMESYNC_};
  int failed = 0;
  MPI_Init(&count, &words);
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; ++i) {
    int error = -1;
    names[i](&error);
    if (error != 0) failed = 1;
  }
  MPI_Finalize();
  return failed;
}
