/* SPDX-License-Identifier: BSD-3-Clause */
/* periodic HOW SECONDS: works for that long with collective calls
 *   world    over MPI_COMM_WORLD, of several kinds, now and then none for a while
 *   copy     over a duplicate of it
 *   both     over both in turn, and among halves of the processes
 *   halves   among halves of the processes only
 *   none     at all (messages around a ring)
 *   apart    the same, where several threads may call MPI
 *   threads  over both at once, by two threads
 *   mixed    over a duplicate, where only rank 0 may have several threads */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

/* One collective call; some processes come late, some calls do not wait for all. */
static void call(MPI_Comm comm, int round) {
  int value = rank == round % size ? round : 0, result = round;
  if ((rank + round) % 7 == 0) usleep(200);
  switch (round % 4) {
    case 0: MPI_Barrier(comm); break;
    case 1: MPI_Bcast(&value, 1, MPI_INT, 0, comm); break;
    case 2: MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_SUM, comm); break;
    default: MPI_Reduce(&value, &result, 1, MPI_INT, MPI_SUM, 0, comm); break;
  }
}

static void exchange(void) {
  int from;
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &from, 1, MPI_INT, (rank + size - 1) % size,
               1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int rounds;

static void* many_calls(void* comm) {
  for (int round = 0; round < rounds; ++round) call(*(MPI_Comm*)comm, round);
  return NULL;
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "world";
  const double seconds = argc > 2 ? atof(argv[2]) : 1;
  const char* const own = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
  const int first = own != NULL && strcmp(own, "0") == 0;
  const int all = strcmp(how, "threads") == 0 || strcmp(how, "apart") == 0;
  const int several = all || (strcmp(how, "mixed") == 0 && first);
  int level;
  MPI_Init_thread(&argc, &argv, several ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm copy, half;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  if (all && level != MPI_THREAD_MULTIPLE) {
    if (rank == 0) printf("no threads\n");
    MPI_Finalize();
    return 0;
  }
  if (strcmp(how, "threads") == 0) {
    rounds = (int)(seconds * 1000);
    MPI_Comm world = MPI_COMM_WORLD;
    pthread_t other;
    pthread_create(&other, NULL, many_calls, &copy);
    many_calls(&world);
    pthread_join(other, NULL);
  }
  /* Rank 0 says how many rounds there are, by messages: the calls must be the same for all. */
  const double begin = MPI_Wtime();
  for (int round = 0, go_on = strcmp(how, "threads") != 0; go_on; ++round) {
    if (strcmp(how, "world") == 0) call(MPI_COMM_WORLD, round);
    if (strcmp(how, "copy") == 0 || strcmp(how, "mixed") == 0) call(copy, round);
    if (strcmp(how, "both") == 0) call(round % 3 == 0 ? copy : MPI_COMM_WORLD, round);
    if (strcmp(how, "both") == 0 || strcmp(how, "halves") == 0) call(half, round);
    exchange();
    usleep(round % 100 == 99 ? 20000 : 500);
    if (rank == 0) go_on = MPI_Wtime() - begin < seconds;
    for (int other = 1; other < size && rank == 0; ++other) {
      MPI_Send(&go_on, 1, MPI_INT, other, 2, MPI_COMM_WORLD);
    }
    if (rank != 0) MPI_Recv(&go_on, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
  if (rank == 0) printf("periodic done\n");
  MPI_Finalize();
  return 0;
}
