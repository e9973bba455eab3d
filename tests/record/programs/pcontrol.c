/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches recording off and on again with MPI_Pcontrol, in the middle of regions and requests. */
#include <entrain/record.h>

#include "expect.h"

static int rank, size;

static void barrier(int recorded) {
  if (recorded) expect("BEGIN");
  MPI_Barrier(MPI_COMM_WORLD);
  if (recorded) expect("END BARRIER MPI_COMM_WORLD NONE 0 0");
}

static void pass_on(MPI_Request* requests, int* from) {
  MPI_Irecv(from, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(argv[1], rank);
  MPI_Request requests[4];
  int from[2] = {-1, -1}, copy_rank;
  MPI_Comm copy;
  MPI_Recv_init(&from[1], 1, MPI_INT, (rank + size - 1) % size, 2, MPI_COMM_WORLD, &requests[2]);
  MPI_Send_init(&rank, 1, MPI_INT, (rank + 1) % size, 2, MPI_COMM_WORLD, &requests[3]);
  entrain_region_begin("outer");
  barrier(1);

  MPI_Pcontrol(0);
  MPI_Pcontrol(0);
  entrain_region_begin("unseen");
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_name(copy, "copy");
  barrier(0);
  MPI_Send(&rank, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
  entrain_region_end();
  entrain_region_begin("inner");
  pass_on(requests, from);
  MPI_Startall(2, &requests[2]);
  MPI_Pcontrol(1);
  MPI_Pcontrol(2, "more");

  /* What began while nothing was recorded leaves no record at its end. */
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  result(from, sizeof from);
  REQUIRE(from[0] == (rank + size - 1) % size && from[1] == from[0]);
  entrain_region_end();
  entrain_region_end();
  MPI_Comm_rank(copy, &copy_rank);
  expect("BEGIN");
  MPI_Barrier(copy);
  expect("END BARRIER copy NONE 0 0");
  expect("IRECV_REQUEST");
  expect("ISEND %d MPI_COMM_WORLD 2 4", (rank + 1) % size);
  MPI_Startall(2, &requests[2]);
  MPI_Waitall(2, &requests[2], MPI_STATUSES_IGNORE);
  expect("IRECV %d MPI_COMM_WORLD 2 4", (rank + size - 1) % size);
  expect("ISEND_COMPLETE");
  MPI_Request_free(&requests[2]);
  MPI_Request_free(&requests[3]);
  expect("DESTROY copy");
  MPI_Comm_free(&copy);
  expect_close();
  if (rank == 0) printf("pcontrol done\n");
  MPI_Finalize();
  return 0;
}
