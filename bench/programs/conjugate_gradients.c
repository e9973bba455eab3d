/* SPDX-License-Identifier: BSD-3-Clause */
/* conjugate_gradients ITERATIONS [LEVELS [BYTES]]: communicates like a solver of conjugate gradients
 * with a multigrid preconditioner, and computes next to nothing. In every iteration each rank
 * exchanges halos with up to six neighbours in a box of ranks, once and then twice per level with
 * ever smaller messages, and takes part in two MPI_Allreduce. A minute of it is a trace of millions
 * of events. Recorded on virtual nodes with wandering clocks it is a hard trace of any length, with
 * known truth (bench/README.md). */
#include <mpi.h>
#include <stdlib.h>

enum { k_neighbours = 6, k_most_bytes = 1 << 16 };

static char out[k_neighbours][k_most_bytes], in[k_neighbours][k_most_bytes];

static void exchange_halo(MPI_Comm box, const int* neighbours, int bytes) {
  MPI_Request requests[2 * k_neighbours];
  int count = 0;
  for (int i = 0; i < k_neighbours; ++i) {
    if (neighbours[i] == MPI_PROC_NULL) continue;
    MPI_Irecv(in[i], bytes, MPI_BYTE, neighbours[i], 1, box, &requests[count++]);
  }
  for (int i = 0; i < k_neighbours; ++i) {
    if (neighbours[i] == MPI_PROC_NULL) continue;
    MPI_Isend(out[i], bytes, MPI_BYTE, neighbours[i], 1, box, &requests[count++]);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  int size, neighbours[k_neighbours];
  int dimensions[3] = {0, 0, 0}, periods[3] = {0, 0, 0};
  double dot = 1;
  MPI_Comm box;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int iterations = argc > 1 ? atoi(argv[1]) : 1000;
  const int levels = argc > 2 ? atoi(argv[2]) : 3;
  int bytes = argc > 3 ? atoi(argv[3]) : 4096;
  if (bytes < 0 || bytes > k_most_bytes) bytes = k_most_bytes;
  MPI_Dims_create(size, 3, dimensions);
  MPI_Cart_create(MPI_COMM_WORLD, 3, dimensions, periods, 0, &box);
  for (int d = 0; d < 3; ++d) {
    MPI_Cart_shift(box, d, 1, &neighbours[2 * d], &neighbours[2 * d + 1]);
  }
  for (int i = 0; i < iterations; ++i) {
    exchange_halo(box, neighbours, bytes);
    MPI_Allreduce(MPI_IN_PLACE, &dot, 1, MPI_DOUBLE, MPI_MAX, box);
    for (int level = 0; level < levels; ++level) {
      exchange_halo(box, neighbours, bytes >> (2 * level + 2));
      exchange_halo(box, neighbours, bytes >> (2 * level + 2));
    }
    MPI_Allreduce(MPI_IN_PLACE, &dot, 1, MPI_DOUBLE, MPI_MAX, box);
  }
  MPI_Comm_free(&box);
  MPI_Finalize();
  return 0;
}
