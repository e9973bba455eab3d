/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs that call MPI from several threads at once. */
#ifndef ENTRAIN_TESTS_SEVERAL_THREADS_H
#define ENTRAIN_TESTS_SEVERAL_THREADS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Begins MPI. Where it has no MPI_THREAD_MULTIPLE, the program says so and ends well. */
static void begin_with_threads(int* argc, char*** argv) {
  int level, rank;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
  if (level >= MPI_THREAD_MULTIPLE) return;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("no threads\n");
  MPI_Finalize();
  exit(0);
}

#endif
