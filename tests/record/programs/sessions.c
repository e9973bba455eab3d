/* SPDX-License-Identifier: BSD-3-Clause */
/* sessions alone|beside: sums up over a communicator made without MPI_COMM_WORLD, in a session of its
 * own. With beside, MPI_Init is called as well, when the session has begun. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#if MPI_VERSION >= 4

int main(int argc, char** argv) {
  const int beside = argc > 1 && strcmp(argv[1], "beside") == 0;
  int rank, value, sum = 0, sum_of_world = 0;
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm, half;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  if (beside) MPI_Init(&argc, &argv);
  MPI_Comm_create_from_group(group, "sum", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_split(comm, rank % 2, rank, &half);
  value = rank + 1;
  for (int i = 0; i < 10; ++i) {
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Barrier(half);
    if (beside) MPI_Allreduce(&value, &sum_of_world, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("sums %d %d\n", sum, sum_of_world);
  MPI_Comm_free(&half);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  if (beside) MPI_Finalize();
  MPI_Session_finalize(&session);
  return 0;
}

#else

int main(void) {
  printf("no MPI 4\n");
  return 0;
}

#endif
