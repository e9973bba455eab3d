/* SPDX-License-Identifier: BSD-3-Clause */
/* join FOLDER, for four processes: ranks 0 and 2 make a communicator out of a socket between them,
 * twice, and talk through it; the others have no part in it. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "expect.h"

static const char* const world = "MPI_COMM_WORLD";

static int failed(const char* what) {
  perror(what);
  MPI_Abort(MPI_COMM_WORLD, 8);
  return -1;
}

/* One end of a connection between ranks 0 and 2. */
static int connected_socket(int rank) {
  struct sockaddr_in place;
  socklen_t size = sizeof place;
  memset(&place, 0, sizeof place);
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int own = socket(AF_INET, SOCK_STREAM, 0);
  if (own < 0) return failed("socket");
  if (rank == 2) {
    MPI_Recv(&place.sin_port, 2, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("RECV 0 %s 0 2", world);
    return connect(own, (struct sockaddr*)&place, size) == 0 ? own : failed("connect");
  }
  if (bind(own, (struct sockaddr*)&place, size) != 0 || listen(own, 1) != 0 ||
      getsockname(own, (struct sockaddr*)&place, &size) != 0) {
    return failed("listen");
  }
  expect("SEND 2 %s 0 2", world);
  MPI_Send(&place.sin_port, 2, MPI_BYTE, 2, 0, MPI_COMM_WORLD);
  const int other = accept(own, NULL, NULL);
  close(own);
  return other >= 0 ? other : failed("accept");
}

static void talk(int rank, const char* name) {
  MPI_Comm between, all;
  int value = rank + 1, other = 0, sum = 0;
  const int end = connected_socket(rank);
  expect("CREATE %s", name);
  DO(Comm_join, end, &between);
  MPI_Comm_set_name(between, name);
  expect("SEND 0 %s 5 4", name);
  expect("RECV 0 %s 5 4", name);
  MPI_Sendrecv(&value, 1, MPI_INT, 0, 5, &other, 1, MPI_INT, 0, 5, between, MPI_STATUS_IGNORE);
  REQUIRE(other == (rank == 0 ? 3 : 1));
  expect("BEGIN");
  expect("CREATE both");
  expect("END CREATE_HANDLE %s NONE 0 0", name);
  MPI_Intercomm_merge(between, rank == 2, &all);
  MPI_Comm_set_name(all, "both");
  expect("BEGIN");
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, all);
  expect("END ALLREDUCE both NONE 8 8");
  expect("DESTROY both");
  MPI_Comm_free(&all);
  expect("DESTROY %s", name);
  MPI_Comm_disconnect(&between);
  close(end);
  result(&sum, sizeof sum);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  expect_open(argv[1], rank);
  if (rank % 2 == 0) {
    talk(rank, "first");
    talk(rank, "second");
  }
  expect("BEGIN");
  MPI_Barrier(MPI_COMM_WORLD);
  expect("END BARRIER %s NONE 0 0", world);
  expect_close();
  if (rank == 0) printf("join done\n");
  MPI_Finalize();
  return 0;
}
