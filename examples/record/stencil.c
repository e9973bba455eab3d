/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat on a square, divided into rows among the processes: halo exchange with both neighbours, and
 * a global sum every tenth step. Prints the number of messages and of collective calls.
 *
 *   mpicc -O2 stencil.c -o stencil
 *   entrain record -o trace -- mpirun -n 4 ./stencil 200
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { k_width = 256, k_rows = 64 };

static double grid[2][k_rows + 2][k_width];
static long sent, received, collectives;

static void exchange(double (*now)[k_width], int up, int down) {
  MPI_Request requests[4];
  MPI_Irecv(now[0], k_width, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(now[k_rows + 1], k_width, MPI_DOUBLE, down, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(now[k_rows], k_width, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(now[1], k_width, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  const int neighbours = (up != MPI_PROC_NULL) + (down != MPI_PROC_NULL);
  sent += neighbours;
  received += neighbours;
}

static double step(double (*now)[k_width], double (*next)[k_width]) {
  double change = 0;
  for (int y = 1; y <= k_rows; ++y) {
    for (int x = 1; x < k_width - 1; ++x) {
      next[y][x] = 0.25 * (now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1]);
      change += (next[y][x] - now[y][x]) * (next[y][x] - now[y][x]);
    }
  }
  return change;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int steps = argc > 1 ? atoi(argv[1]) : 100;
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
  if (rank == 0) {
    for (int x = 0; x < k_width; ++x) grid[0][1][x] = grid[1][1][x] = 100;
  }
  double total = 0;
  for (int i = 0; i < steps; ++i) {
    exchange(grid[i % 2], up, down);
    const double change = step(grid[i % 2], grid[1 - i % 2]);
    if (i % 10 != 9) continue;
    MPI_Allreduce(&change, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    ++collectives;
  }
  long counts[3] = {sent, received, collectives + 1}, sums[3];
  MPI_Reduce(counts, sums, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("change %.6f\nsent %ld\nreceived %ld\ncollectives %ld\n", total, sums[0], sums[1],
           sums[2]);
  }
  MPI_Finalize();
  return 0;
}
