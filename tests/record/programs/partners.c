/* SPDX-License-Identifier: BSD-3-Clause */
/* Partners of collective calls in all the ways in which they may differ: with and without data, in
 * place, between two groups, on open grids, twice the same one. Four processes. With a second
 * argument they end without MPI_Finalize. */
#include <string.h>
#include <unistd.h>

#include "expect.h"

static int rank, size;
static int out[16], in[16], counts[4], no_counts[4], places[4], places_w[4];
static MPI_Datatype types[4], empty;
static MPI_Request request;

static void done(const char* record, const char* operation, const char* name, int sent,
                 int received, const char* partners) {
  expect("%s %s %s NONE %d %d", record, operation, name, sent, received);
  expect("PARTNERS %s", partners);
}

/* In pairs; the others have counts of 0, or types without data. */
static void pairs(void) {
  char partners[32];
  snprintf(partners, sizeof partners, "to %d from %d", rank ^ 1, rank ^ 1);
  for (int i = 0; i < 4; ++i) counts[i] = i == (rank ^ 1) ? 2 : 0;
  for (int repeated = 0; repeated < 2; ++repeated) {
    expect("BEGIN");
    MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    done("END", "ALLTOALLV", "MPI_COMM_WORLD", 8, 8, partners);
  }
  /* Counts above 0 everywhere, but only one type has data. */
  for (int i = 0; i < 4; ++i) {
    counts[i] = 2;
    types[i] = i == (rank ^ 1) ? MPI_INT : empty;
  }
  expect("REQUEST");
  MPI_Ialltoallw(out, counts, places_w, types, in, counts, places_w, types, MPI_COMM_WORLD,
                 &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  done("COMPLETE", "ALLTOALLW", "MPI_COMM_WORLD", 8, 8, partners);
}

/* Only rank 2 gets data; nobody else sends any to the others. */
static void one_way(void) {
  for (int i = 0; i < 4; ++i) {
    counts[i] = i == 2 ? 1 : 0;
    no_counts[i] = rank == 2 ? 1 : 0;
  }
  expect("BEGIN");
  MPI_Alltoallv(out, counts, places, MPI_INT, in, no_counts, places, MPI_INT, MPI_COMM_WORLD);
  done("END", "ALLTOALLV", "MPI_COMM_WORLD", 4, rank == 2 ? 16 : 0,
       rank == 2 ? "to 2 from 0-3" : "to 2 from");
  memset(counts, 0, sizeof counts);
  expect("BEGIN");
  MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
  done("END", "ALLTOALLV", "MPI_COMM_WORLD", 0, 0, "to from");
}

/* The counts of what is sent are those of what is received. */
static void in_place(void) {
  for (int i = 0; i < 4; ++i) counts[i] = i == rank || i == 3 - rank ? 1 : 0;
  char partners[32];
  const int low = rank < 2 ? rank : 3 - rank, high = 3 - low;
  snprintf(partners, sizeof partners,
           low + 1 == high ? "to %d-%d from %d-%d" : "to %d,%d from %d,%d", low, high, low, high);
  expect("BEGIN");
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, places, MPI_INT,
                MPI_COMM_WORLD);
  done("END", "ALLTOALLV", "MPI_COMM_WORLD", 4, 4, partners);
}

/* Ranks are those of the other group: even and odd ones, of which each sends to its own neighbour.
 */
static void between_groups(void) {
  MPI_Comm half, inter;
  const int me = rank / 2;
  expect("BEGIN");
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  expect(rank % 2 ? "CREATE odd" : "CREATE even");
  MPI_Comm_set_name(half, rank % 2 ? "odd" : "even");
  expect("END CREATE_HANDLE MPI_COMM_WORLD NONE 0 0");
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 7, &inter);
  expect("CREATE inter");
  MPI_Comm_set_name(inter, "inter");
  for (int i = 0; i < 2; ++i) counts[i] = i == me ? 1 : 0;
  expect("BEGIN");
  MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, inter);
  done("END", "ALLTOALLV", "inter", 4, 4, me == 0 ? "to 0 from 0" : "to 1 from 1");
  expect("DESTROY inter");
  MPI_Comm_free(&inter);
  expect(rank % 2 ? "DESTROY odd" : "DESTROY even");
  MPI_Comm_free(&half);
}

/* An open line: the ends have one neighbour only. A neighbour without data is no partner. */
static void line(void) {
  static const char* const all[] = {"to 1 from 1", "to 0,2 from 0,2", "to 1,3 from 1,3",
                                    "to 2 from 2"};
  static const char* const up[] = {"to 1 from", "to 2 from 0", "to 3 from 1", "to from 2"};
  const int ends = rank == 0 || rank == 3, open = 0;
  MPI_Comm comm;
  expect("BEGIN");
  expect("CREATE line");
  expect("END CREATE_HANDLE MPI_COMM_WORLD NONE 0 0");
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &open, 0, &comm);
  MPI_Comm_set_name(comm, "line");
  expect("BEGIN");
  MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
  done("END", "ALLTOALLV", "line", ends ? 4 : 8, ends ? 4 : 8, all[rank]);
  const int upward[2] = {0, 1}, from_below[2] = {1, 0};
  expect("BEGIN");
  MPI_Neighbor_alltoallv(out, upward, places, MPI_INT, in, from_below, places, MPI_INT, comm);
  done("END", "ALLTOALLV", "line", rank == 3 ? 0 : 4, rank == 0 ? 0 : 4, up[rank]);
  expect("DESTROY line");
  MPI_Comm_free(&comm);
}

/* A star around rank 0, as a general graph. */
static void star(void) {
  const int index[4] = {3, 4, 5, 6}, edges[6] = {1, 2, 3, 0, 0, 0};
  MPI_Comm comm;
  expect("BEGIN");
  expect("CREATE star");
  expect("END CREATE_HANDLE MPI_COMM_WORLD NONE 0 0");
  MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &comm);
  MPI_Comm_set_name(comm, "star");
  const int bytes = rank == 0 ? 12 : 4;
  expect("BEGIN");
  MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm);
  done("END", "ALLTOALLV", "star", bytes, bytes, rank == 0 ? "to 1-3 from 1-3" : "to 0 from 0");
  expect("DESTROY star");
  MPI_Comm_free(&comm);
}

/* A weighted graph: everybody sends to rank 0, rank 1 twice. */
static void funnel(void) {
  const int sources[5] = {0, 1, 1, 2, 3}, zeros[2] = {0, 0}, weights[5] = {1, 2, 3, 4, 5};
  MPI_Comm comm;
  expect("BEGIN");
  expect("CREATE funnel");
  expect("END CREATE_HANDLE MPI_COMM_WORLD NONE 0 0");
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank == 0 ? 5 : 0, sources, weights,
                                 rank == 1 ? 2 : 1, zeros, weights, MPI_INFO_NULL, 0, &comm);
  MPI_Comm_set_name(comm, "funnel");
  expect("REQUEST");
  MPI_Ineighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  done("COMPLETE", "ALLTOALLV", "funnel", rank == 1 ? 8 : 4, rank == 0 ? 20 : 0,
       rank == 0 ? "to 0 from 0-3" : "to 0 from");
  expect("DESTROY funnel");
  MPI_Comm_free(&comm);
}

/* What MPI 4 has: each start is a call. */
static void persistent(void) {
#if MPI_VERSION >= 4
  for (int i = 0; i < 4; ++i) counts[i] = i == 3 - rank ? 1 : 0;
  char partners[32];
  snprintf(partners, sizeof partners, "to %d from %d", 3 - rank, 3 - rank);
  MPI_Alltoallv_init(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD,
                     MPI_INFO_NULL, &request);
  for (int i = 0; i < 2; ++i) {
    expect("REQUEST");
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    done("COMPLETE", "ALLTOALLV", "MPI_COMM_WORLD", 4, 4, partners);
  }
  MPI_Request_free(&request);
  const int closed = 1;
  MPI_Comm ring;
  expect("BEGIN");
  expect("CREATE ring");
  expect("END CREATE_HANDLE MPI_COMM_WORLD NONE 0 0");
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &closed, 0, &ring);
  MPI_Comm_set_name(ring, "ring");
  const char* const beside = rank % 2 ? "to 0,2 from 0,2" : "to 1,3 from 1,3";
  MPI_Neighbor_allgather_init(out, 1, MPI_INT, in, 1, MPI_INT, ring, MPI_INFO_NULL, &request);
  expect("REQUEST");
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  done("COMPLETE", "ALLTOALLV", "ring", 8, 8, beside);
  MPI_Request_free(&request);
  expect("DESTROY ring");
  MPI_Comm_free(&ring);
#endif
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(argv[1], rank);
  REQUIRE(size == 4);
  for (int i = 0; i < 16; ++i) out[i] = rank * 100 + i;
  for (int i = 0; i < 4; ++i) {
    places[i] = i * 2;
    places_w[i] = places[i] * (int)sizeof(int);
  }
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  pairs();
  one_way();
  in_place();
  between_groups();
  line();
  star();
  funnel();
  persistent();
  result(in, sizeof in);
  MPI_Type_free(&empty);
  expect_close();
  if (argc > 2) {
    MPI_Barrier(MPI_COMM_WORLD);
    _exit(3);
  }
  if (rank == 0) printf("partners done\n");
  MPI_Finalize();
  return 0;
}
