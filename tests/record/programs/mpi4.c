/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that are new in MPI 4: large counts, persistent collectives, messages both ways. */
#include "expect.h"

#if MPI_VERSION >= 4

enum { k_most = 64 };
static int rank, size, left, right;
static const char* const world = "MPI_COMM_WORLD";
static int a[k_most], b[k_most];
static MPI_Request request, requests[2];

static void fill(void) {
  for (int i = 0; i < k_most; ++i) {
    a[i] = rank * 100 + i;
    b[i] = -1;
  }
}
static void finish(void) { DO(Wait, &request, MPI_STATUS_IGNORE); }

static void messages(void) {
  fill();
  expect("ISEND %d %s 1 8", right, world);
  DO(Isend_c, a, 2, MPI_INT, right, 1, MPI_COMM_WORLD, &request);
  DO(Recv_c, b, 2, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect("RECV %d %s 1 8", left, world);
  finish();
  expect("ISEND_COMPLETE");
  REQUIRE(b[1] == left * 100 + 1);
  expect("SEND %d %s 2 4", right, world);
  DO(Sendrecv_c, a, 1, MPI_INT, right, 2, b, 1, MPI_INT, left, 2, MPI_COMM_WORLD,
     MPI_STATUS_IGNORE);
  expect("RECV %d %s 2 4", left, world);

  expect("ISEND %d %s 3 12", right, world);
  expect("IRECV_REQUEST");
  DO(Isendrecv, a, 3, MPI_INT, right, 3, b, 3, MPI_INT, left, 3, MPI_COMM_WORLD, &request);
  finish();
  expect("ISEND_COMPLETE");
  expect("IRECV %d %s 3 12", left, world);
  REQUIRE(b[2] == left * 100 + 2);
  expect("ISEND %d %s 4 4", right, world);
  expect("IRECV_REQUEST");
  DO(Isendrecv_replace_c, a, 1, MPI_INT, right, 4, left, 4, MPI_COMM_WORLD, &request);
  finish();
  expect("ISEND_COMPLETE");
  expect("IRECV %d %s 4 4", left, world);
  REQUIRE(a[0] == left * 100);
  /* One half of it leads nowhere. */
  expect("ISEND %d %s 5 4", right, world);
  DO(Isendrecv, a, 1, MPI_INT, right, 5, b, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &request);
  expect("IRECV_REQUEST");
  DO(Irecv_c, b, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &requests[0]);
  finish();
  expect("ISEND_COMPLETE");
  DO(Wait, &requests[0], MPI_STATUS_IGNORE);
  expect("IRECV %d %s 5 4", left, world);
  result(b, sizeof b);
}

static void collectives(void) {
  MPI_Count counts[k_most];
  MPI_Aint places[k_most];
  for (int i = 0; i < size; ++i) {
    counts[i] = i + 1;
    places[i] = i * (i + 1) / 2;
  }
  const int total = size * (size + 1) / 2;
  fill();
  expect("BEGIN");
  DO(Allgatherv_c, a, rank + 1, MPI_INT, b, counts, places, MPI_INT, MPI_COMM_WORLD);
  expect("END ALLGATHERV %s NONE %d %d", world, (rank + 1) * size * 4, total * 4);
  expect("REQUEST");
  DO(Iallreduce_c, a, b, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  finish();
  expect("COMPLETE ALLREDUCE %s NONE %d %d", world, 12 * size, 12 * size);
  result(b, sizeof b);

  fill();
  DO(Allreduce_init, a, b, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  DO(Bcast_init_c, a, 1, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  for (int round = 0; round < 3; ++round) {
    expect("REQUEST");
    expect("REQUEST");
    DO(Startall, 2, requests);
    DO(Waitall, 2, requests, MPI_STATUSES_IGNORE);
    expect("COMPLETE ALLREDUCE %s NONE %d %d", world, 8 * size, 8 * size);
    expect("COMPLETE BCAST %s 1 %d 4", world, rank == 1 ? 4 * size : 0);
    result(b, sizeof b);
  }
  DO(Request_free, &requests[0]);
  DO(Request_free, &requests[1]);
}

static void window(void) {
  MPI_Win win;
  MPI_Win_create_c(b, sizeof b, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  expect("RMA_BEGIN");
  expect("WIN_CREATE win");
  expect("RMA_END CREATE_HANDLE win {PROCESS} NONE 0 0");
  MPI_Win_set_name(win, "win");
  for (int i = 0; i < 2; ++i) {
    if (i == 1) {
      expect("PUT win %d 8", right);
      DO(Put_c, a, 2, MPI_INT, right, 0, 2, MPI_INT, win);
    }
    expect("RMA_BEGIN");
    MPI_Win_fence(0, win);
    if (i == 1) expect("LOCAL win");
    expect("RMA_END BARRIER win {PROCESS, MEMORY} NONE 0 0");
  }
  expect("RMA_BEGIN");
  MPI_Win_free(&win);
  expect("WIN_DESTROY win");
  expect("RMA_END DESTROY_HANDLE win {PROCESS} NONE 0 0");
  result(b, sizeof b);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(argv[1], rank);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  messages();
  collectives();
  window();
  expect_close();
  if (rank == 0) printf("mpi4 done\n");
  MPI_Finalize();
  return 0;
}

#else

int main(void) {
  printf("no MPI 4\n");
  return 0;
}

#endif
