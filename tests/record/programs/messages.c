/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call of MPI 3.1 that sends or receives a message, between pairs of processes. */
#include <string.h>

#include "expect.h"

static int rank, partner, even;
static MPI_Comm comm = MPI_COMM_WORLD;
static const char* name = "MPI_COMM_WORLD";
enum { k_ints = 5, k_bytes = k_ints * sizeof(int) };
static int out[k_ints], in[k_ints];

static void check_data(void) {
  for (int i = 0; i < k_ints; ++i) REQUIRE(in[i] == partner * 100 + i);
  result(in, sizeof in);
  memset(in, 0, sizeof in);
}

static void expect_send(int tag) { expect("SEND %d %s %d %d", partner, name, tag, k_bytes); }
static void expect_isend(int tag) { expect("ISEND %d %s %d %d", partner, name, tag, k_bytes); }
static void expect_recv(int tag) { expect("RECV %d %s %d %d", partner, name, tag, k_bytes); }
static void expect_irecv(int tag) { expect("IRECV %d %s %d %d", partner, name, tag, k_bytes); }

static void receive(int tag) {
  MPI_Recv(in, k_ints, MPI_INT, partner, tag, comm, MPI_STATUS_IGNORE);
  expect_recv(tag);
  check_data();
}

static void blocking(void) {
  char* const buffer = malloc(4 * (k_bytes + MPI_BSEND_OVERHEAD));
  MPI_Buffer_attach(buffer, 4 * (k_bytes + MPI_BSEND_OVERHEAD));
  for (int turn = 0; turn < 2; ++turn) {
    if (turn == even) {
      receive(1);
      receive(2);
      receive(3);
      /* A ready send needs a receive that is posted before. */
      MPI_Request request;
      expect("IRECV_REQUEST");
      MPI_Irecv(in, k_ints, MPI_INT, partner, 4, comm, &request);
      expect_send(5);
      MPI_Send(out, k_ints, MPI_INT, partner, 5, comm);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      expect_irecv(4);
      check_data();
    } else {
      expect_send(1);
      MPI_Send(out, k_ints, MPI_INT, partner, 1, comm);
      expect_send(2);
      MPI_Bsend(out, k_ints, MPI_INT, partner, 2, comm);
      expect_send(3);
      MPI_Ssend(out, k_ints, MPI_INT, partner, 3, comm);
      receive(5);
      expect_send(4);
      MPI_Rsend(out, k_ints, MPI_INT, partner, 4, comm);
    }
  }
  void* detached;
  int size;
  MPI_Buffer_detach(&detached, &size);
  free(buffer);
}

static void combined(void) {
  expect_send(6);
  MPI_Sendrecv(out, k_ints, MPI_INT, partner, 6, in, k_ints, MPI_INT, partner, 6, comm,
               MPI_STATUS_IGNORE);
  expect_recv(6);
  check_data();
  memcpy(in, out, sizeof in);
  MPI_Status status;
  expect_send(7);
  MPI_Sendrecv_replace(in, k_ints, MPI_INT, partner, 7, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
  expect_recv(7);
  REQUIRE(status.MPI_SOURCE == partner && status.MPI_TAG == 7);
  check_data();
}

typedef int Isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

/* Starts a receive and a send, which `complete` ends. */
static void start_pair(Isend* isend, int tag, MPI_Request* requests) {
  expect("IRECV_REQUEST");
  MPI_Irecv(in, k_ints, MPI_INT, MPI_ANY_SOURCE, tag, comm, &requests[0]);
  MPI_Barrier(comm);
  expect("BEGIN");
  expect("END BARRIER %s NONE 0 0", name);
  expect_isend(tag);
  isend(out, k_ints, MPI_INT, partner, tag, comm, &requests[1]);
}

static void expect_pair(int tag) {
  expect_irecv(tag);
  expect("ISEND_COMPLETE");
  check_data();
}

/* Waits for what is left, in the order of the records that are expected. */
static void wait_each(int tag, MPI_Request* requests) {
  int index;
  MPI_Waitany(1, &requests[0], &index, MPI_STATUS_IGNORE);
  REQUIRE(index == 0);
  expect_irecv(tag);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  expect("ISEND_COMPLETE");
  check_data();
}

static void non_blocking(void) {
  char* const buffer = malloc(k_bytes + MPI_BSEND_OVERHEAD);
  MPI_Buffer_attach(buffer, k_bytes + MPI_BSEND_OVERHEAD);
  MPI_Request requests[2];
  MPI_Status statuses[2];
  int flag = 0, count = 0, index = 0, indices[2], tag = 10;

  start_pair(MPI_Isend, tag, requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  expect_pair(tag++);

  start_pair(MPI_Issend, tag, requests);
  MPI_Waitall(2, requests, statuses);
  REQUIRE(statuses[0].MPI_SOURCE == partner);
  expect_pair(tag++);

  start_pair(MPI_Ibsend, tag, requests);
  wait_each(tag++, requests);

  start_pair(MPI_Irsend, tag, requests);
  while (!flag) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
  expect_pair(tag++);

  start_pair(MPI_Isend, tag, requests);
  for (flag = 0; !flag;) MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
  expect_irecv(tag);
  for (flag = 0; !flag;) MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
  REQUIRE(index == 1);
  expect("ISEND_COMPLETE");
  check_data();
  tag++;

  start_pair(MPI_Isend, tag, requests);
  for (count = 0; count == 0;) {
    MPI_Testsome(1, requests, &count, indices, MPI_STATUSES_IGNORE);
  }
  REQUIRE(count == 1 && indices[0] == 0);
  expect_irecv(tag);
  MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
  REQUIRE(count == 1 && indices[0] == 1);
  expect("ISEND_COMPLETE");
  check_data();
  MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
  REQUIRE(count == MPI_UNDEFINED);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  REQUIRE(index == MPI_UNDEFINED);

  void* detached;
  int size;
  MPI_Buffer_detach(&detached, &size);
  free(buffer);
}

typedef int Init(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static void persistent(void) {
  char* const buffer = malloc(2 * (k_bytes + MPI_BSEND_OVERHEAD));
  MPI_Buffer_attach(buffer, 2 * (k_bytes + MPI_BSEND_OVERHEAD));
  Init* const kinds[] = {MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init};
  for (int kind = 0; kind < 4; ++kind) {
    const int tag = 20 + kind;
    MPI_Request requests[2];
    MPI_Recv_init(in, k_ints, MPI_INT, partner, tag, comm, &requests[0]);
    kinds[kind](out, k_ints, MPI_INT, partner, tag, comm, &requests[1]);
    for (int round = 0; round < 2; ++round) {
      if (kind == 3) {
        expect("IRECV_REQUEST");
        MPI_Start(&requests[0]);
        MPI_Barrier(comm);
        expect("BEGIN");
        expect("END BARRIER %s NONE 0 0", name);
        expect_isend(tag);
        MPI_Start(&requests[1]);
      } else {
        expect("IRECV_REQUEST");
        expect_isend(tag);
        MPI_Startall(2, requests);
      }
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      expect_pair(tag);
      /* Inactive requests are complete and leave no record. */
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
  }
  void* detached;
  int size;
  MPI_Buffer_detach(&detached, &size);
  free(buffer);
}

static void probed(void) {
  MPI_Status status;
  MPI_Message first, second;
  int flag = 0;
  for (int i = 0; i < 5; ++i) {
    expect_isend(30 + i);
    MPI_Request request;
    MPI_Isend(out, k_ints, MPI_INT, partner, 30 + i, comm, &request);
    MPI_Request_free(&request);
    expect("ISEND_COMPLETE");
  }
  MPI_Probe(partner, 30, comm, &status);
  MPI_Iprobe(partner, 30, comm, &flag, MPI_STATUS_IGNORE);
  REQUIRE(flag);
  receive(30);
  MPI_Mprobe(MPI_ANY_SOURCE, 31, comm, &first, &status);
  expect("IRECV_REQUEST");
  for (flag = 0; !flag;) MPI_Improbe(partner, 32, comm, &flag, &second, MPI_STATUS_IGNORE);
  expect("IRECV_REQUEST");
  /* In the other order than probed. */
  MPI_Mrecv(in, k_ints, MPI_INT, &second, MPI_STATUS_IGNORE);
  expect_irecv(32);
  check_data();
  MPI_Request request;
  MPI_Imrecv(in, k_ints, MPI_INT, &first, &request);
  MPI_Wait(&request, &status);
  REQUIRE(status.MPI_TAG == 31);
  expect_irecv(31);
  check_data();
  receive(33);
  receive(34);
}

static void cancelled_and_null(void) {
  MPI_Request requests[3];
  MPI_Status status;
  int flag = 0;
  expect("IRECV_REQUEST");
  MPI_Irecv(in, k_ints, MPI_INT, partner, 99, comm, &requests[0]);
  MPI_Cancel(&requests[0]);
  MPI_Wait(&requests[0], &status);
  MPI_Test_cancelled(&status, &flag);
  REQUIRE(flag);
  expect("CANCELLED");

  MPI_Send(out, k_ints, MPI_INT, MPI_PROC_NULL, 1, comm);
  MPI_Recv(in, k_ints, MPI_INT, MPI_PROC_NULL, 1, comm, &status);
  REQUIRE(status.MPI_SOURCE == MPI_PROC_NULL);
  MPI_Sendrecv(out, k_ints, MPI_INT, MPI_PROC_NULL, 1, in, k_ints, MPI_INT, MPI_PROC_NULL, 1, comm,
               MPI_STATUS_IGNORE);
  MPI_Isend(out, k_ints, MPI_INT, MPI_PROC_NULL, 1, comm, &requests[0]);
  MPI_Irecv(in, k_ints, MPI_INT, MPI_PROC_NULL, 1, comm, &requests[1]);
  expect_isend(40);
  MPI_Isend(out, k_ints, MPI_INT, partner, 40, comm, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  expect("ISEND_COMPLETE");
  receive(40);
  MPI_Message message;
  MPI_Mprobe(MPI_PROC_NULL, 1, comm, &message, &status);
  MPI_Mrecv(in, k_ints, MPI_INT, &message, MPI_STATUS_IGNORE);

  expect_send(41);
  MPI_Sendrecv(out, k_ints, MPI_INT, partner, 41, in, k_ints, MPI_INT, MPI_PROC_NULL, 41, comm,
               MPI_STATUS_IGNORE);
  receive(41);
  expect_isend(42);
  MPI_Isend(out, k_ints, MPI_INT, partner, 42, comm, &requests[0]);
  MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
  receive(42);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  expect("ISEND_COMPLETE");
}

/* Counts and types other than whole ints. */
static void sizes(void) {
  MPI_Datatype pair;
  MPI_Type_vector(2, 1, 3, MPI_SHORT, &pair);
  MPI_Type_commit(&pair);
  short from[6] = {1, 2, 3, 4, 5, 6}, to[6] = {0};
  expect("SEND %d %s 50 4", partner, name);
  MPI_Sendrecv(from, 1, pair, partner, 50, to, 1, pair, partner, 50, comm, MPI_STATUS_IGNORE);
  expect("RECV %d %s 50 4", partner, name);
  REQUIRE(to[0] == 1 && to[3] == 4 && to[1] == 0);
  MPI_Type_free(&pair);
  /* The receiver's room is larger than the message. */
  expect("SEND %d %s 51 4", partner, name);
  MPI_Sendrecv(out, 1, MPI_INT, partner, 51, in, k_ints, MPI_INT, partner, 51, comm,
               MPI_STATUS_IGNORE);
  expect("RECV %d %s 51 4", partner, name);
  expect("SEND %d %s 52 0", partner, name);
  MPI_Sendrecv(NULL, 0, MPI_INT, partner, 52, NULL, 0, MPI_INT, partner, 52, comm,
               MPI_STATUS_IGNORE);
  expect("RECV %d %s 52 0", partner, name);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  partner = rank ^ 1;
  even = rank % 2 == 0;
  for (int i = 0; i < k_ints; ++i) out[i] = rank * 100 + i;
  expect_open(argv[1], rank);
  blocking();
  combined();
  non_blocking();
  persistent();
  probed();
  cancelled_and_null();
  sizes();
  MPI_Comm copy;
  expect("BEGIN");
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  expect("CREATE copy");
  expect("END CREATE_HANDLE MPI_COMM_WORLD NONE 0 0");
  MPI_Comm_set_name(copy, "copy");
  comm = copy;
  name = "copy";
  combined();
  persistent();
  expect("DESTROY copy");
  MPI_Comm_free(&copy);
  expect_close();
  if (rank == 0) printf("messages done\n");
  MPI_Finalize();
  return 0;
}
