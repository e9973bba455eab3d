/* SPDX-License-Identifier: BSD-3-Clause */
/* record_overhead single|multiple CALLS: prints, one line per kind of call, what one of them takes
 * in nanoseconds: the mean of so many calls, the least of five such means. */
#include <entrain/record.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int number;

static void rank_of_self(void) { MPI_Comm_rank(MPI_COMM_SELF, &number); }

static void barrier(void) { MPI_Barrier(MPI_COMM_SELF); }

static void sendrecv(void) {
  int in;
  MPI_Sendrecv(&number, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void requests(void) {
  int in;
  MPI_Request both[2];
  MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &both[0]);
  MPI_Isend(&number, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &both[1]);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

static void region(void) {
  entrain_region_begin("region");
  entrain_region_end();
}

static void alltoallv(void) {
  static const int one = 1, zero = 0;
  int in;
  MPI_Alltoallv(&number, &one, &zero, MPI_INT, &in, &one, &zero, MPI_INT, MPI_COMM_SELF);
}

/* The process is alone in a grid of so many dimensions, all of them open: the library has nothing
 * to do, the recorder looks at all the counts. */
enum { k_dimensions = 500 };
static int counts[2 * k_dimensions];
static MPI_Comm crowd;

static void make_crowd(void) {
  static int sizes[k_dimensions], closed[k_dimensions];
  for (int i = 0; i < k_dimensions; ++i) sizes[i] = 1;
  MPI_Cart_create(MPI_COMM_SELF, k_dimensions, sizes, closed, 0, &crowd);
}

static void neighbours(void) {
  int in;
  MPI_Neighbor_alltoallv(&number, counts, counts, MPI_INT, &in, counts, counts, MPI_INT, crowd);
}

static double nanoseconds(void (*call)(void), int calls) {
  double least = 1e30;
  for (int run = 0; run < 5; ++run) {
    const double begin = MPI_Wtime();
    for (int i = 0; i < calls; ++i) call();
    const double each = (MPI_Wtime() - begin) * 1e9 / calls;
    if (each < least) least = each;
  }
  return least;
}

int main(int argc, char** argv) {
  const int several = argc > 1 && strcmp(argv[1], "multiple") == 0;
  const int calls = argc > 2 ? atoi(argv[2]) : 200000;
  int level;
  MPI_Init_thread(&argc, &argv, several ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  printf("MPI_Comm_rank\t1\t%.1f\n", nanoseconds(rank_of_self, calls));
  printf("MPI_Barrier on MPI_COMM_SELF\t1\t%.1f\n", nanoseconds(barrier, calls));
  printf("MPI_Sendrecv with itself\t1\t%.1f\n", nanoseconds(sendrecv, calls));
  printf("MPI_Irecv, MPI_Isend, MPI_Waitall with itself\t3\t%.1f\n", nanoseconds(requests, calls));
  printf("entrain_region_begin and _end\t2\t%.1f\n", nanoseconds(region, calls));
  printf("MPI_Alltoallv on MPI_COMM_SELF\t1\t%.1f\n", nanoseconds(alltoallv, calls));
  make_crowd();
  printf("MPI_Neighbor_alltoallv, 1,000 partners\t1\t%.1f\n",
         nanoseconds(neighbours, calls / 10 + 1));
  MPI_Comm_free(&crowd);
  MPI_Finalize();
  return 0;
}
