/* SPDX-License-Identifier: BSD-3-Clause */
/* 600 threads, one after the other, each in a region that it does not leave, in a process that may
 * have 64 files open; at last 40 threads at once. The program still opens files of its own. */
#include <entrain/record.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "several_threads.h"

enum { k_short = 600, k_together = 40 };

static pthread_barrier_t together;

static void* be_short(void* all) {
  int rank;
  entrain_region_begin("short");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (all != NULL) pthread_barrier_wait(&together);
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[k_together];
  begin_with_threads(&argc, &argv);
  const struct rlimit few = {64, 64};
  setrlimit(RLIMIT_NOFILE, &few);
  for (int i = 0; i < k_short; ++i) {
    pthread_create(&threads[0], NULL, be_short, NULL);
    pthread_join(threads[0], NULL);
  }
  pthread_barrier_init(&together, NULL, k_together);
  for (int i = 0; i < k_together; ++i) pthread_create(&threads[i], NULL, be_short, &together);
  for (int i = 0; i < k_together; ++i) pthread_join(threads[i], NULL);
  FILE* const own = fopen("/dev/null", "r");
  printf("%s\n", own != NULL ? "short threads done" : "no file left");
  if (own != NULL) fclose(own);
  MPI_Finalize();
  return 0;
}
