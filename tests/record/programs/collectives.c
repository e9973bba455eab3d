/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective call of MPI 3.1 on data, blocking and not, in place, and between two groups; and
 * every way to make a communicator. */
#include <string.h>

#include "expect.h"

static int rank, size;
enum { k_most = 64 };
static int a[k_most], b[k_most], counts[k_most], places[k_most], counts_w[k_most], places_w[k_most];
static MPI_Datatype types[k_most];
static const char* name = "MPI_COMM_WORLD";

static void fill(void) {
  for (int i = 0; i < k_most; ++i) {
    a[i] = rank * 1000 + i;
    b[i] = -1;
    counts[i] = i + 1;
    places[i] = i * (i + 1) / 2;
    counts_w[i] = i + 1;
    places_w[i] = places[i] * (int)sizeof(int);
    types[i] = MPI_INT;
  }
}

/* One call, blocking or not: `expected` is operation, communicator, root, sent, received. */
static MPI_Request request;
static int is_blocking;
static char line[256], partners[64];

static void end_call(void) {
  if (is_blocking) {
    expect("END %s", line);
  } else {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("COMPLETE %s", line);
  }
  if (partners[0] != 0) expect("PARTNERS %s", partners);
  partners[0] = 0;
  result(b, sizeof b);
}

static void begin_call(const char* operation, int root, long sent, long received) {
  fill();
  char root_text[32] = "NONE";
  if (root >= 0) snprintf(root_text, sizeof root_text, "%d", root);
  if (root == -2) strcpy(root_text, "SELF");
  if (root == -3) strcpy(root_text, "THIS_GROUP");
  snprintf(line, sizeof line, "%s %s %s %ld %ld", operation, name, root_text, sent, received);
  expect(is_blocking ? "BEGIN" : "REQUEST");
}

/* MPI_X or MPI_Ix. */
#define CALL(x, i, ...)                \
  do {                                 \
    if (is_blocking) {                 \
      MPI_##x(__VA_ARGS__);            \
    } else {                           \
      MPI_I##i(__VA_ARGS__, &request); \
    }                                  \
    end_call();                        \
  } while (0)

static void all_kinds(MPI_Comm comm, int n, int me) {
  const int root = n - 1, is_root = me == root;
  const long one = sizeof(int), total = n * (n + 1) / 2;

  begin_call("BARRIER", -1, 0, 0);
  CALL(Barrier, barrier, comm);
  begin_call("BCAST", root, is_root ? 3 * one * n : 0, 3 * one);
  CALL(Bcast, bcast, a, 3, MPI_INT, root, comm);
  begin_call("GATHER", root, 2 * one, is_root ? 2 * one * n : 0);
  CALL(Gather, gather, a, 2, MPI_INT, b, 2, MPI_INT, root, comm);
  begin_call("GATHERV", root, (me + 1) * one, is_root ? total * one : 0);
  CALL(Gatherv, gatherv, a, me + 1, MPI_INT, b, counts, places, MPI_INT, root, comm);
  begin_call("SCATTER", root, is_root ? 2 * one * n : 0, 2 * one);
  CALL(Scatter, scatter, a, 2, MPI_INT, b, 2, MPI_INT, root, comm);
  begin_call("SCATTERV", root, is_root ? total * one : 0, (me + 1) * one);
  CALL(Scatterv, scatterv, a, counts, places, MPI_INT, b, me + 1, MPI_INT, root, comm);
  begin_call("ALLGATHER", -1, 2 * one * n, 2 * one * n);
  CALL(Allgather, allgather, a, 2, MPI_INT, b, 2, MPI_INT, comm);
  begin_call("ALLGATHERV", -1, (me + 1) * one * n, total * one);
  CALL(Allgatherv, allgatherv, a, me + 1, MPI_INT, b, counts, places, MPI_INT, comm);
  begin_call("ALLTOALL", -1, 2 * one * n, 2 * one * n);
  CALL(Alltoall, alltoall, a, 2, MPI_INT, b, 2, MPI_INT, comm);
  /* Everybody sends i+1 to i, so i gets i+1 from everybody. */
  begin_call("ALLTOALLV", -1, total * one, (me + 1) * one * n);
  int same[k_most], apart[k_most], apart_w[k_most];
  for (int i = 0; i < n; ++i) {
    same[i] = me + 1;
    apart[i] = i * (me + 1);
    apart_w[i] = apart[i] * (int)sizeof(int);
  }
  const char* const everybody = n > 1 ? "to 0-%d from 0-%d" : "to %d from %d";
  snprintf(partners, sizeof partners, everybody, n - 1, n - 1);
  CALL(Alltoallv, alltoallv, a, counts, places, MPI_INT, b, same, apart, MPI_INT, comm);
  begin_call("ALLTOALLW", -1, total * one, (me + 1) * one * n);
  snprintf(partners, sizeof partners, everybody, n - 1, n - 1);
  CALL(Alltoallw, alltoallw, a, counts_w, places_w, types, b, same, apart_w, types, comm);
  begin_call("ALLREDUCE", -1, 3 * one * n, 3 * one * n);
  CALL(Allreduce, allreduce, a, b, 3, MPI_INT, MPI_SUM, comm);
  begin_call("REDUCE", root, 3 * one, is_root ? 3 * one * n : 0);
  CALL(Reduce, reduce, a, b, 3, MPI_INT, MPI_MAX, root, comm);
  begin_call("REDUCE_SCATTER", -1, total * one, (me + 1) * one * n);
  CALL(Reduce_scatter, reduce_scatter, a, b, counts, MPI_INT, MPI_SUM, comm);
  begin_call("REDUCE_SCATTER_BLOCK", -1, 2 * one * n, 2 * one * n);
  CALL(Reduce_scatter_block, reduce_scatter_block, a, b, 2, MPI_INT, MPI_SUM, comm);
  begin_call("SCAN", -1, (n - me) * one, (me + 1) * one);
  CALL(Scan, scan, a, b, 1, MPI_INT, MPI_SUM, comm);
  begin_call("EXSCAN", -1, (n - me - 1) * one, me * one);
  CALL(Exscan, exscan, a, b, 1, MPI_INT, MPI_SUM, comm);
}

/* With MPI_IN_PLACE a process' own share does not move. */
static void in_place(MPI_Comm comm, int n, int me) {
  const int root = 0, is_root = me == root;
  const long one = sizeof(int);
  begin_call("GATHER", root, is_root ? 0 : 2 * one, is_root ? 2 * one * (n - 1) : 0);
  CALL(Gather, gather, is_root ? MPI_IN_PLACE : a, 2, MPI_INT, b, 2, MPI_INT, root, comm);
  begin_call("SCATTER", root, is_root ? 2 * one * (n - 1) : 0, is_root ? 0 : 2 * one);
  CALL(Scatter, scatter, a, 2, MPI_INT, is_root ? MPI_IN_PLACE : b, 2, MPI_INT, root, comm);
  begin_call("ALLGATHER", -1, one * (n - 1), one * (n - 1));
  CALL(Allgather, allgather, MPI_IN_PLACE, 0, MPI_INT, b, 1, MPI_INT, comm);
  begin_call("ALLTOALL", -1, one * (n - 1), one * (n - 1));
  CALL(Alltoall, alltoall, MPI_IN_PLACE, 0, MPI_INT, b, 1, MPI_INT, comm);
  begin_call("ALLREDUCE", -1, one * (n - 1), one * (n - 1));
  CALL(Allreduce, allreduce, MPI_IN_PLACE, b, 1, MPI_INT, MPI_SUM, comm);
  begin_call("REDUCE", root, is_root ? 0 : one, is_root ? one * (n - 1) : 0);
  CALL(Reduce, reduce, is_root ? MPI_IN_PLACE : a, b, 1, MPI_INT, MPI_SUM, root, comm);
}

/* Two groups, even and odd ranks: the root and its group name it in their own way. */
static void between_groups(MPI_Comm inter) {
  int others, me;
  MPI_Comm_remote_size(inter, &others);
  MPI_Comm_rank(inter, &me);
  const long one = sizeof(int);
  const int has_root = rank % 2 == 0, is_root = has_root && me == 0;
  const int root = !has_root ? 0 : is_root ? MPI_ROOT : MPI_PROC_NULL;
  const int shown = !has_root ? 0 : is_root ? -2 : -3;
  /* Open MPI 4.1 lets processes out of MPI_Ibarrier here before all others are in. */
  if (is_blocking) {
    begin_call("BARRIER", -1, 0, 0);
    CALL(Barrier, barrier, inter);
  }
  begin_call("BCAST", shown, is_root ? one * others : 0, has_root ? 0 : one);
  CALL(Bcast, bcast, a, 1, MPI_INT, root, inter);
  begin_call("REDUCE", shown, has_root ? 0 : one, is_root ? one * others : 0);
  CALL(Reduce, reduce, a, b, 1, MPI_INT, MPI_SUM, root, inter);
  begin_call("ALLREDUCE", -1, one * others, one * others);
  CALL(Allreduce, allreduce, a, b, 1, MPI_INT, MPI_SUM, inter);
  begin_call("ALLGATHER", -1, one * others, one * others);
  CALL(Allgather, allgather, a, 1, MPI_INT, b, 1, MPI_INT, inter);
  if (is_blocking) {
    expect("SEND %d %s 3 4", me, name);
    MPI_Sendrecv(a, 1, MPI_INT, me, 3, b, 1, MPI_INT, me, 3, inter, MPI_STATUS_IGNORE);
    expect("RECV %d %s 3 4", me, name);
    REQUIRE(b[0] == (rank ^ 1) * 1000);
  }
}

static void both_ways(void (*test)(MPI_Comm, int, int), MPI_Comm comm, int n, int me) {
  for (is_blocking = 1; is_blocking >= 0; --is_blocking) test(comm, n, me);
}

/* A new communicator with its records; `own` is 0 where this process is not in it. */
static void made(MPI_Comm comm, const char* new_name, const char* parent, int own) {
  if (own) {
    expect("CREATE %s", new_name);
    MPI_Comm_set_name(comm, new_name);
  }
  if (parent != NULL) expect("END CREATE_HANDLE %s NONE 0 0", parent);
}

static void used_and_freed(MPI_Comm* comm, const char* new_name) {
  expect("BEGIN");
  MPI_Barrier(*comm);
  expect("END BARRIER %s NONE 0 0", new_name);
  expect("DESTROY %s", new_name);
  MPI_Comm_free(comm);
}

static void communicators(void) {
  const char* const world = "MPI_COMM_WORLD";
  MPI_Comm comm, sub;
  MPI_Group all, some;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  const int two[2] = {1, 0};
  MPI_Group_incl(all, 2, two, &some);

  expect("BEGIN");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
  made(comm, "dup_info", world, 1);
  used_and_freed(&comm, "dup_info");

  expect("REQUEST");
  MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect("CREATE idup");
  expect("COMPLETE CREATE_HANDLE %s NONE 0 0", world);
  MPI_Comm_set_name(comm, "idup");
  used_and_freed(&comm, "idup");

  expect("BEGIN");
  MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
  made(comm, "create", world, rank < 2);
  if (rank < 2) used_and_freed(&comm, "create");

  if (rank < 2) {
    for (int i = 0; i < 2; ++i) {
      MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &comm);
      made(comm, i == 0 ? "group0" : "group1", NULL, 1);
      used_and_freed(&comm, i == 0 ? "group0" : "group1");
    }
  }

  expect("BEGIN");
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : rank % 2, -rank, &comm);
  const char* const split_name = rank % 2 ? "split_odd" : "split_even";
  made(comm, split_name, world, rank != 0);
  if (rank != 0) used_and_freed(&comm, split_name);

  expect("BEGIN");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
  made(comm, "node", world, 1);
  used_and_freed(&comm, "node");

  const int dims[2] = {2, size / 2}, periods[2] = {1, 1}, keep[2] = {0, 1};
  expect("BEGIN");
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
  made(comm, "cart", world, 1);
  expect("BEGIN");
  MPI_Cart_sub(comm, keep, &sub);
  const char* const row = rank < size / 2 ? "row0" : "row1";
  made(sub, row, "cart", 1);
  used_and_freed(&sub, row);
  used_and_freed(&comm, "cart");

  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  expect("BEGIN");
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  made(comm, "adjacent", world, 1);
  used_and_freed(&comm, "adjacent");
  const int degree = 1;
  expect("BEGIN");
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                        &comm);
  made(comm, "graph", world, 1);
  used_and_freed(&comm, "graph");
  int index[k_most], edges[k_most];
  for (int i = 0; i < size; ++i) {
    index[i] = i + 1;
    edges[i] = (i + 1) % size;
  }
  expect("BEGIN");
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
  made(comm, "old_graph", world, 1);
  used_and_freed(&comm, "old_graph");
  MPI_Group_free(&all);
  MPI_Group_free(&some);
}

static void inter_communicators(void) {
  MPI_Comm half, inter, merged, copy;
  expect("BEGIN");
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  const char* const half_name = rank % 2 ? "odd" : "even";
  made(half, half_name, "MPI_COMM_WORLD", 1);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 8, &inter);
  made(inter, "inter", NULL, 1);
  name = "inter";
  for (is_blocking = 1; is_blocking >= 0; --is_blocking) between_groups(inter);
  expect("BEGIN");
  MPI_Intercomm_merge(inter, rank % 2, &merged);
  made(merged, "merged", "inter", 1);
  used_and_freed(&merged, "merged");
  expect("BEGIN");
  MPI_Comm_dup(inter, &copy);
  made(copy, "inter_copy", "inter", 1);
  expect("DESTROY inter_copy");
  MPI_Comm_disconnect(&copy);
  expect("DESTROY inter");
  MPI_Comm_free(&inter);
  expect("DESTROY %s", half_name);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(argv[1], rank);
  both_ways(all_kinds, MPI_COMM_WORLD, size, rank);
  both_ways(in_place, MPI_COMM_WORLD, size, rank);
  name = "MPI_COMM_SELF";
  both_ways(all_kinds, MPI_COMM_SELF, 1, 0);
  communicators();
  inter_communicators();
  expect_close();
  if (rank == 0) printf("collectives done\n");
  MPI_Finalize();
  return 0;
}
