/* SPDX-License-Identifier: BSD-3-Clause */
/* family [exit], for four processes: communicators made from one another in every way. Each is
 * named CHILD<PARENT. With a word behind, the processes leave without MPI_Finalize. */
#include <mpi.h>
#include <stdlib.h>

static int rank, size;

static MPI_Comm named(MPI_Comm comm, const char* name) {
  if (comm != MPI_COMM_NULL) MPI_Comm_set_name(comm, name);
  return comm;
}

static void by_copies(MPI_Comm world) {
  MPI_Comm copy, other;
  MPI_Request request;
  MPI_Comm_dup(world, &copy);
  named(copy, "dup<MPI_COMM_WORLD");
  MPI_Comm_dup_with_info(copy, MPI_INFO_NULL, &other);
  named(other, "dup_with_info<dup");
  MPI_Comm_free(&copy);
  MPI_Comm_idup(other, &copy, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  named(copy, "idup<dup_with_info");
  MPI_Comm_dup(MPI_COMM_SELF, &other);
  if (rank == 2) named(other, "own<MPI_COMM_SELF");
}

static void by_members(MPI_Comm world) {
  MPI_Comm half, other;
  MPI_Group group;
  MPI_Comm_split(world, rank % 2, -rank, &half);
  named(half, rank % 2 ? "odd<MPI_COMM_WORLD" : "even<MPI_COMM_WORLD");
  MPI_Comm_split_type(half, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &other);
  named(other, rank % 2 ? "node_odd<odd" : "node_even<even");
  MPI_Comm_group(half, &group);
  MPI_Comm_create(world, group, &other);
  if (rank % 2) named(other, "create<MPI_COMM_WORLD");
  if (rank % 2) {
    MPI_Comm_create_group(other, group, 7, &half);
    named(half, "create_group<create");
  }
}

static void by_shape(MPI_Comm world) {
  const int dims[2] = {2, 2}, wrap[2] = {1, 1}, keep[2] = {0, 1}, one = 1;
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  const int index[4] = {1, 2, 3, 4}, edges[4] = {1, 2, 3, 0};
  MPI_Comm comm, other;
  MPI_Cart_create(world, 2, dims, wrap, 0, &comm);
  named(comm, "cart<MPI_COMM_WORLD");
  MPI_Cart_sub(comm, keep, &other);
  named(other, rank < 2 ? "row0<cart" : "row1<cart");
  MPI_Graph_create(comm, 4, index, edges, 0, &other);
  named(other, "graph<cart");
  MPI_Dist_graph_create(other, 1, &rank, &one, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  named(comm, "dist_graph<graph");
  MPI_Dist_graph_create_adjacent(comm, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &other);
  named(other, "adjacent<dist_graph");
}

/* Only ranks 1 and 3 know the communicator through which the two groups meet. */
static void by_groups(MPI_Comm world) {
  MPI_Comm half, bridge, inter, comm;
  MPI_Comm_split(world, rank / 2, rank, &half);
  MPI_Comm_split(world, rank % 2 ? 0 : MPI_UNDEFINED, -rank, &bridge);
  named(bridge, "bridge<MPI_COMM_WORLD");
  MPI_Intercomm_create(half, 1, bridge, rank < 2 ? 0 : 1, 3, &inter);
  named(inter, "inter<bridge");
  MPI_Intercomm_merge(inter, rank < 2, &comm);
  named(comm, "merged<inter");
  MPI_Comm_dup(inter, &comm);
  named(comm, "copy<inter");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  by_copies(MPI_COMM_WORLD);
  by_members(MPI_COMM_WORLD);
  by_shape(MPI_COMM_WORLD);
  by_groups(MPI_COMM_WORLD);
  if (argc > 1) {
    MPI_Barrier(MPI_COMM_WORLD);
    _Exit(0);
  }
  MPI_Finalize();
  return 0;
}
