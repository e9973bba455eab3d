/* SPDX-License-Identifier: BSD-3-Clause */
/* limits size|threads|little, for three processes: rank 0 does more than may be recorded, by its
 * many events or by its threads, or it does not, and goes on making communicators, measuring clocks
 * and sending messages. */
#include <entrain/record.h>
#include <pthread.h>
#include <string.h>

#include "several_threads.h"

enum { k_calls = 60000, k_messages = 20 };
static int rank;
static MPI_Comm inner, outer; /* of ranks 0 and 2, and of ranks 1 and 2 */
static pthread_barrier_t both_are_there;

static void make_inner(void) {
  MPI_Comm_split(MPI_COMM_WORLD, rank == 1, rank, &inner);
  entrain_timesync();
}

static void many_events(void) {
  for (int i = 0; i < k_calls; ++i) {
    int size;
    if (i % 1000 == 0) entrain_region_begin("thousand");
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (i % 1000 == 999) entrain_region_end();
  }
}

/* The first thread is there for the second one to be one more, whose call others wait for. */
static void* work(void* is_second) {
  if (is_second != NULL) pthread_barrier_wait(&both_are_there);
  entrain_region_begin("thread");
  if (is_second == NULL) pthread_barrier_wait(&both_are_there);
  if (is_second != NULL) make_inner();
  pthread_barrier_wait(&both_are_there);
  entrain_region_end();
  return NULL;
}

static void two_threads(void) {
  pthread_t threads[2];
  pthread_barrier_init(&both_are_there, NULL, 2);
  pthread_create(&threads[0], NULL, work, NULL);
  pthread_create(&threads[1], NULL, work, &rank);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
}

static int sum_of_messages(MPI_Comm comm, int from, int to) {
  int own, sum = 0, value = 0;
  MPI_Comm_rank(comm, &own);
  for (int i = 0; i < k_messages; ++i) {
    value += rank + i;
    if (own == from) MPI_Send(&value, 1, MPI_INT, to, 1, comm);
    if (own == to) MPI_Recv(&value, 1, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE);
    sum += value;
  }
  return sum;
}

int main(int argc, char** argv) {
  begin_with_threads(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  entrain_region_begin("all");
  int sum = sum_of_messages(MPI_COMM_WORLD, 0, 1), all = 0;
  if (rank == 0 && strcmp(argv[1], "size") == 0) many_events();
  if (rank == 0 && strcmp(argv[1], "threads") == 0) {
    two_threads();
  } else {
    make_inner();
  }
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &outer);
  if (rank == 2) MPI_Comm_set_name(inner, "inner");
  if (rank == 2) MPI_Comm_set_name(outer, "outer");
  sum += sum_of_messages(MPI_COMM_WORLD, 0, 1);
  if (rank != 1) sum += sum_of_messages(inner, 0, 1);
  if (rank != 0) sum += sum_of_messages(outer, 0, 1);
  MPI_Reduce(&sum, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  entrain_region_end();
  if (rank == 0) printf("sum %d\n", all);
  if (argc > 2) {
    /* A launcher ends all others when the first one is gone: they have to be done. Not recorded. */
    PMPI_Barrier(MPI_COMM_WORLD);
    _Exit(0);
  }
  MPI_Finalize();
  return 0;
}
