/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn FOLDER one|several: starts two more processes of itself, by one command or by two, and talks
 * to them; records are those of the first world. */
#include <string.h>

#include "expect.h"

static void talk(MPI_Comm others, int is_child, int rank) {
  int number = rank, sum = 0;
  MPI_Status status;
  if (rank == 0) {
    MPI_Sendrecv(&number, 1, MPI_INT, 0, 7, &sum, 1, MPI_INT, 0, 7, others, &status);
  }
  MPI_Barrier(others);
  MPI_Comm all;
  MPI_Intercomm_merge(others, is_child, &all);
  number = 1;
  MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, all);
  REQUIRE(sum == 5);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&others);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm parent, children;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    talk(parent, 1, rank);
    MPI_Finalize();
    return 0;
  }
  expect_open(argv[1], rank);
  expect("BEGIN");
  MPI_Barrier(MPI_COMM_WORLD);
  expect("END BARRIER MPI_COMM_WORLD NONE 0 0");
  if (strcmp(argv[2], "one") == 0) {
    DO(Comm_spawn, argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
       MPI_ERRCODES_IGNORE);
  } else {
    char* commands[] = {argv[0], argv[0]};
    const int counts[] = {1, 1};
    const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    DO(Comm_spawn_multiple, 2, commands, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_WORLD,
       &children, MPI_ERRCODES_IGNORE);
  }
  talk(children, 0, rank);
  expect("BEGIN");
  MPI_Barrier(MPI_COMM_WORLD);
  expect("END BARRIER MPI_COMM_WORLD NONE 0 0");
  expect_close();
  if (rank == 0) printf("spawn done\n");
  MPI_Finalize();
  return 0;
}
