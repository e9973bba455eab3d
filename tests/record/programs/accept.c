/* SPDX-License-Identifier: BSD-3-Clause */
/* accept FOLDER, for four processes: ranks 0 and 1 accept connections of ranks 2 and 3, whichever of
 * them knows the port, and all talk through them. */
#include "expect.h"

static const char* const world = "MPI_COMM_WORLD";
static int rank;
static MPI_Comm half;

/* `root` is the one of each half that knows the port. */
static void talk(int root, const char* name) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm between, all;
  int value = rank, other = -1, sum = 0;
  if (rank == root) {
    DO(Open_port, MPI_INFO_NULL, port);
    expect("SEND %d %s 1 %d", root + 2, world, MPI_MAX_PORT_NAME);
    MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, root + 2, 1, MPI_COMM_WORLD);
  }
  if (rank == root + 2) {
    MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, root, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("RECV %d %s 1 %d", root, world, MPI_MAX_PORT_NAME);
  }
  expect("CREATE %s", name);
  if (rank < 2) {
    DO(Comm_accept, port, MPI_INFO_NULL, root, half, &between);
  } else {
    DO(Comm_connect, port, MPI_INFO_NULL, root, half, &between);
  }
  MPI_Comm_set_name(between, name);
  if (rank == root) DO(Close_port, port);
  const int partner = 1 - rank % 2; /* 0 talks to 3, and 1 to 2 */
  expect("SEND %d %s 5 4", partner, name);
  expect("RECV %d %s 5 4", partner, name);
  MPI_Sendrecv(&value, 1, MPI_INT, partner, 5, &other, 1, MPI_INT, partner, 5, between,
               MPI_STATUS_IGNORE);
  REQUIRE(other == 3 - rank);
  expect("BEGIN");
  MPI_Barrier(between);
  expect("END BARRIER %s NONE 0 0", name);
  expect("BEGIN");
  expect("CREATE all");
  expect("END CREATE_HANDLE %s NONE 0 0", name);
  MPI_Intercomm_merge(between, rank < 2, &all);
  MPI_Comm_set_name(all, "all");
  expect("BEGIN");
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, all);
  expect("END ALLREDUCE all NONE 16 16");
  expect("DESTROY all");
  MPI_Comm_free(&all);
  expect("DESTROY %s", name);
  MPI_Comm_disconnect(&between);
  result(&sum, sizeof sum);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  expect_open(argv[1], rank);
  const char* const name = rank < 2 ? "low" : "high";
  expect("BEGIN");
  expect("CREATE %s", name);
  expect("END CREATE_HANDLE %s NONE 0 0", world);
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &half);
  MPI_Comm_set_name(half, name);
  talk(0, "first");
  talk(1, "second");
  talk(0, "third");
  expect("DESTROY %s", name);
  MPI_Comm_free(&half);
  expect_close();
  if (rank == 0) printf("accept done\n");
  MPI_Finalize();
  return 0;
}
