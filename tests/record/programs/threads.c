/* SPDX-License-Identifier: BSD-3-Clause */
/* Four threads per process call MPI at once: each talks to its namesake in the other process, with
 * requests, on a communicator of its own, and makes and frees communicators. Writes down how many
 * calls of MPI each thread made. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "several_threads.h"

enum { k_threads = 4, k_rounds = 300 };
static int rank;
static MPI_Comm comms[k_threads];
static pthread_barrier_t all_are_through; /* threads that end hand on their locations */

static void* work(void* argument) {
  const int me = *(int*)argument;
  MPI_Comm comm = comms[me];
  for (int i = 0; i < k_rounds; ++i) {
    int out = rank * 1000 + i, in = -1, sum = 0;
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, me, comm, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, 1 - rank, me, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (in != (1 - rank) * 1000 + i) MPI_Abort(MPI_COMM_WORLD, 9);
    MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (i % 100 == 0) {
      MPI_Comm copy;
      MPI_Comm_dup(comm, &copy);
      MPI_Barrier(copy);
      MPI_Comm_free(&copy);
    }
  }
  pthread_barrier_wait(&all_are_through);
  return NULL;
}

int main(int argc, char** argv) {
  int numbers[k_threads];
  pthread_t threads[k_threads];
  begin_with_threads(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < k_threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  pthread_barrier_init(&all_are_through, NULL, k_threads);
  for (int i = 0; i < k_threads; ++i) {
    numbers[i] = i;
    pthread_create(&threads[i], NULL, work, &numbers[i]);
  }
  for (int i = 0; i < k_threads; ++i) pthread_join(threads[i], NULL);
  if (rank == 0) printf("threads done\n");
  MPI_Finalize();
  return 0;
}
