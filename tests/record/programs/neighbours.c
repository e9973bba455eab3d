/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective call among neighbours, blocking and not, on a torus and on a directed ring. Each
 * is recorded as the MPI_Alltoallv or MPI_Alltoallw that it amounts to. */
#include <string.h>

#include "expect.h"

enum { k_most = 8 };
static int rank, size;
static int out[k_most], in[k_most];
static MPI_Request request;
static char partners[64];

static void clear(void) {
  for (int i = 0; i < k_most; ++i) {
    out[i] = rank * 10 + i;
    in[i] = -1;
  }
}

static void over(const char* record, const char* operation, const char* name, int bytes) {
  expect("%s %s %s NONE %d %d", record, operation, name, bytes, bytes);
  expect("PARTNERS %s", partners);
  result(in, sizeof in);
}

/* MPI_Neighbor_X and MPI_Ineighbor_X with the same arguments. */
#define BOTH(operation, x, ...)                        \
  do {                                                 \
    clear();                                           \
    expect("BEGIN");                                   \
    DO(Neighbor_##x, __VA_ARGS__);                     \
    over("END", operation, name, neighbours * 4);      \
    clear();                                           \
    expect("REQUEST");                                 \
    DO(Ineighbor_##x, __VA_ARGS__, &request);          \
    DO(Wait, &request, MPI_STATUS_IGNORE);             \
    over("COMPLETE", operation, name, neighbours * 4); \
  } while (0)

static void among(MPI_Comm comm, const char* name, int neighbours) {
  int counts[k_most], places[k_most];
  MPI_Aint bytes[k_most];
  MPI_Datatype types[k_most];
  for (int i = 0; i < neighbours; ++i) {
    counts[i] = 1;
    places[i] = neighbours - 1 - i;
    bytes[i] = (MPI_Aint)(places[i] * sizeof(int));
    types[i] = MPI_INT;
  }
  BOTH("ALLTOALLV", allgather, out, 1, MPI_INT, in, 1, MPI_INT, comm);
  BOTH("ALLTOALLV", allgatherv, out, 1, MPI_INT, in, counts, places, MPI_INT, comm);
  BOTH("ALLTOALLV", alltoall, out, 1, MPI_INT, in, 1, MPI_INT, comm);
  BOTH("ALLTOALLV", alltoallv, out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm);
  BOTH("ALLTOALLW", alltoallw, out, counts, bytes, types, in, counts, bytes, types, comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(argv[1], rank);
  const int dims[2] = {2, size / 2}, periods[2] = {1, 1};
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Comm torus, ring;
  expect("BEGIN");
  expect("CREATE torus");
  expect("END CREATE_HANDLE MPI_COMM_WORLD NONE 0 0");
  DO(Cart_create, MPI_COMM_WORLD, 2, dims, periods, 0, &torus);
  DO(Comm_set_name, torus, "torus");
  const int a = rank ^ 1, b = rank ^ 2, low = a < b ? a : b, high = a < b ? b : a;
  /* Each of them is there twice, as the torus has two processes in each direction. */
  const char* const format = high == low + 1 ? "to %d-%d from %d-%d" : "to %d,%d from %d,%d";
  snprintf(partners, sizeof partners, format, low, high, low, high);
  among(torus, "torus", 4);
  expect("BEGIN");
  expect("CREATE ring");
  expect("END CREATE_HANDLE MPI_COMM_WORLD NONE 0 0");
  DO(Dist_graph_create_adjacent, MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
     MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  DO(Comm_set_name, ring, "ring");
  snprintf(partners, sizeof partners, "to %d from %d", right, left);
  among(ring, "ring", 1);
  REQUIRE(in[0] == left * 10);
  /* A message after all those requests: handles were not mixed up. */
  int number = -1;
  MPI_Request requests[2];
  expect("IRECV_REQUEST");
  expect("ISEND %d ring 3 4", right);
  DO(Irecv, &number, 1, MPI_INT, left, 3, ring, &requests[0]);
  DO(Isend, &rank, 1, MPI_INT, right, 3, ring, &requests[1]);
  DO(Waitall, 2, requests, MPI_STATUSES_IGNORE);
  expect("IRECV %d ring 3 4", left);
  expect("ISEND_COMPLETE");
  REQUIRE(number == left);
  expect("DESTROY ring");
  DO(Comm_free, &ring);
  expect("DESTROY torus");
  DO(Comm_free, &torus);
  expect_close();
  if (rank == 0) printf("neighbours done\n");
  MPI_Finalize();
  return 0;
}
