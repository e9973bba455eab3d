/* SPDX-License-Identifier: BSD-3-Clause */
/* errors FOLDER, for an even number of processes: calls that fail, under MPI_ERRORS_RETURN, and
 * good ones behind them, whose requests get the handles of those that failed. Even ranks send, odd
 * ones receive. */
#include <entrain/record.h>

#include "expect.h"

enum { k_ints = 64 };
static int partner, data[k_ints];
static MPI_Comm other;
static const char *const world_name = "MPI_COMM_WORLD", *const other_name = "other";

static int bytes_in(MPI_Status* status) {
  int bytes;
  MPI_Get_elements(status, MPI_BYTE, &bytes);
  return bytes;
}

static void expect_got(const char* what, int tag, MPI_Status* status) {
  expect("%s %d %s %d %d", what, partner, world_name, tag, bytes_in(status));
}

static void send(int tag, int ints, MPI_Comm comm) {
  expect("SEND %d %s %d %d", partner, comm == other ? other_name : world_name, tag, 4 * ints);
  REQUIRE(MPI_Send(data, ints, MPI_INT, partner, tag, comm) == MPI_SUCCESS);
}

/* What the library refuses is not sent. */
static void refused_sends(void) {
  int size;
  MPI_Request request;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  REQUIRE(MPI_Send(data, 1, MPI_INT, size + 70, 5, MPI_COMM_WORLD) != MPI_SUCCESS);
  REQUIRE(MPI_Send(data, -1, MPI_INT, partner, 5, MPI_COMM_WORLD) != MPI_SUCCESS);
  REQUIRE(MPI_Send(data, 1, MPI_DATATYPE_NULL, partner, 5, MPI_COMM_WORLD) != MPI_SUCCESS);
  REQUIRE(MPI_Isend(data, 1, MPI_DATATYPE_NULL, partner, 5, other, &request) != MPI_SUCCESS);
  REQUIRE(MPI_Isend(data, 1, MPI_INT, partner, -7, MPI_COMM_WORLD, &request) != MPI_SUCCESS);
#ifndef OPEN_MPI /* it does not look whether there is a buffer */
  REQUIRE(MPI_Bsend(data, 1, MPI_INT, partner, 5, MPI_COMM_WORLD) != MPI_SUCCESS);
#endif
  MPI_Datatype unknown;
  MPI_Status status;
  MPI_Type_contiguous(2, MPI_INT, &unknown);
  REQUIRE(MPI_Send(data, 1, unknown, partner, 5, MPI_COMM_WORLD) != MPI_SUCCESS);
  REQUIRE(MPI_Ssend(data, 1, unknown, partner, 5, MPI_COMM_WORLD) != MPI_SUCCESS);
  REQUIRE(MPI_Rsend(data, 1, unknown, partner, 5, other) != MPI_SUCCESS);
  REQUIRE(MPI_Sendrecv(data, 1, unknown, partner, 5, data, 1, MPI_INT, partner, 5, MPI_COMM_WORLD,
                       &status) != MPI_SUCCESS);
  REQUIRE(MPI_Sendrecv_replace(data, 1, unknown, partner, 5, partner, 5, other, &status) !=
          MPI_SUCCESS);
  expect("ISEND %d %s %d %d", partner, world_name, 5, 8); /* only the library sees what is wrong */
  expect("CANCELLED");
  REQUIRE(MPI_Isend(data, 1, unknown, partner, 5, MPI_COMM_WORLD, &request) != MPI_SUCCESS);
  MPI_Type_free(&unknown);
}

/* A message that is too long is received, as far as there is room. */
static void too_long(void) {
  MPI_Status status, statuses[2];
  MPI_Request request, requests[2];
  int flag = 0, index = -1;
  if (partner % 2 == 1) {
    for (int tag = 10; tag < 16; ++tag) send(tag, k_ints, MPI_COMM_WORLD);
    for (int i = 1; i <= 3; ++i) send(20, i, other);
    return;
  }
  REQUIRE(MPI_Recv(data, 1, MPI_INT, partner, 10, MPI_COMM_WORLD, &status) != MPI_SUCCESS);
  expect_got("RECV", 10, &status);
  expect("IRECV_REQUEST");
  MPI_Irecv(data, 1, MPI_INT, partner, 11, MPI_COMM_WORLD, &request);
  REQUIRE(MPI_Wait(&request, &status) != MPI_SUCCESS);
  expect_got("IRECV", 11, &status);
  expect("IRECV_REQUEST");
  expect("IRECV_REQUEST");
  MPI_Irecv(data, 1, MPI_INT, partner, 12, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(data, k_ints, MPI_INT, partner, 13, MPI_COMM_WORLD, &requests[1]);
  REQUIRE(MPI_Waitall(2, requests, statuses) != MPI_SUCCESS);
  expect_got("IRECV", 12, &statuses[0]);
  if (requests[1] != MPI_REQUEST_NULL) MPI_Wait(&requests[1], &statuses[1]);
  expect_got("IRECV", 13, &statuses[1]);
  expect("IRECV_REQUEST");
  MPI_Irecv(data, 1, MPI_INT, partner, 14, MPI_COMM_WORLD, &request);
  REQUIRE(MPI_Waitany(1, &request, &index, &status) != MPI_SUCCESS);
  expect_got("IRECV", 14, &status);
  expect("IRECV_REQUEST");
  MPI_Irecv(data, 1, MPI_INT, partner, 15, MPI_COMM_WORLD, &request);
  while (MPI_Test(&request, &flag, &status) == MPI_SUCCESS) REQUIRE(!flag);
  expect_got("IRECV", 15, &status);
  for (int i = 1; i <= 3; ++i) {
    expect("IRECV_REQUEST");
    MPI_Irecv(data, k_ints, MPI_INT, partner, 20, other, &request);
    MPI_Wait(&request, &status);
    expect("IRECV %d %s %d %d", partner, other_name, 20, 4 * i);
    result(&status.MPI_SOURCE, sizeof status.MPI_SOURCE);
  }
}

static void note(MPI_Comm* comm, int* error, ...) {
  (void)comm, (void)error;
  entrain_region_begin("error");
  entrain_region_end();
}

/* A call whose receive is too short has sent all the same, whatever the program does about it. */
static void too_long_both_ways(void) {
  const int is_short = partner % 2 == 1, ints = is_short ? 1 : k_ints;
  int in[k_ints];
  MPI_Status status;
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(note, &handler);
  for (int round = 0; round < 20; ++round) {
    expect("SEND %d %s 30 %d", partner, world_name, 4 * ints);
    const int error = MPI_Sendrecv(data, ints, MPI_INT, partner, 30, in, ints, MPI_INT, partner, 30,
                                   MPI_COMM_WORLD, &status);
    REQUIRE((error != MPI_SUCCESS) == is_short);
    expect_got("RECV", 30, &status);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  expect_open(argc > 1 ? argv[1] : ".", rank);
  partner = rank % 2 == 0 ? rank + 1 : rank - 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_set_name(other, other_name);
  expect("BEGIN");
  expect("CREATE %s", other_name);
  expect("END CREATE_HANDLE %s NONE 0 0", world_name);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
  result(&partner, sizeof partner);
  if (rank % 2 == 0) refused_sends();
  too_long();
  too_long_both_ways();
  expect("DESTROY %s", other_name);
  MPI_Comm_free(&other);
  expect_close();
  if (rank == 0) printf("errors done\n");
  MPI_Finalize();
  return 0;
}
