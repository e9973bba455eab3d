/* SPDX-License-Identifier: BSD-3-Clause */
/* workers LEVEL: two threads mark regions of many names, while the main thread makes, names and
 * frees communicators. LEVEL: single, funneled or serialized. A third thread marks regions until
 * the end of the program, behind MPI_Finalize. */
#include <entrain/record.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { k_workers = 2, k_regions = 5000, k_comms = 2000 };
static atomic_int over;

static void* work(void* number) {
  char name[64];
  for (int i = 0; i < k_regions; ++i) {
    snprintf(name, sizeof name, "worker %d step %d", *(int*)number, i % 1000);
    entrain_region_begin(name);
    entrain_region_end();
  }
  return NULL;
}

static void* work_on(void* unused) {
  while (!over) {
    entrain_region_begin("to the end");
    entrain_region_end();
    usleep(10); /* not too many of them */
  }
  return unused;
}

int main(int argc, char** argv) {
  const char* const wanted = argc > 1 ? argv[1] : "funneled";
  int level = MPI_THREAD_FUNNELED, rank, numbers[k_workers];
  if (strcmp(wanted, "single") == 0) level = MPI_THREAD_SINGLE;
  if (strcmp(wanted, "serialized") == 0) level = MPI_THREAD_SERIALIZED;
  pthread_t workers[k_workers], other;
  MPI_Init_thread(&argc, &argv, level, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < k_workers; ++i) {
    numbers[i] = i;
    pthread_create(&workers[i], NULL, work, &numbers[i]);
  }
  pthread_create(&other, NULL, work_on, NULL);
  for (int i = 0; i < k_comms; ++i) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    MPI_Comm_set_name(copy, "a name that is long enough to need memory");
    MPI_Comm_free(&copy);
  }
  for (int i = 0; i < k_workers; ++i) pthread_join(workers[i], NULL);
  if (rank == 0) printf("workers done\n");
  MPI_Finalize();
  over = 1;
  pthread_join(other, NULL);
  return 0;
}
