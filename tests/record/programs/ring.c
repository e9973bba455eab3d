/* SPDX-License-Identifier: BSD-3-Clause */
/* ring ROUNDS [HOW]: passes numbers around, then ends as HOW says:
 *   (nothing)  as a program should, with exit code 3
 *   sync       the same, with a session of the clocks in the middle
 *   exit       without MPI_Finalize, exit code 5
 *   abort      rank 1 calls MPI_Abort with code 7
 *   kill       rank 1 is killed, the others wait
 *   fork       every process starts another program in between, and a copy of itself
 *   full       may not write files of more than 600 KiB: as if the disk were full
 *   until-FILE goes on behind the rounds when FILE is there, or after a minute */
#include <entrain/record.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void start_others(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) exit(0); /* runs what is registered for the end of the program */
  int status = 1;
  waitpid(child, &status, 0);
  if (status != 0 || system("true") != 0) MPI_Abort(MPI_COMM_WORLD, 8);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
  const char* const how = argc > 2 ? argv[2] : "";
  int rank, size, from = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(how, "full") == 0) {
    const struct rlimit limit = {600 << 10, 600 << 10};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  for (int i = 0; i < rounds; ++i) {
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &from, 1, MPI_INT,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(how, "sync") == 0 && i == rounds / 2) entrain_timesync();
    if (strcmp(how, "fork") == 0 && i == rounds / 2) start_others();
  }
  if (strncmp(how, "until-", 6) == 0) {
    for (int tries = 0; tries < 600 && access(how + 6, F_OK) != 0; ++tries) usleep(100000);
  }
  /* Nobody may still be in the last round when the launcher ends all. The barrier is not recorded. */
  if (strcmp(how, "exit") == 0 || strcmp(how, "kill") == 0) PMPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(how, "exit") == 0) exit(5);
  if (strcmp(how, "abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
  if (strcmp(how, "kill") == 0 && rank == 1) kill(getpid(), SIGKILL);
  if (strcmp(how, "abort") == 0 || strcmp(how, "kill") == 0) sleep(60);
  if (rank == 0) printf("last from %d\n", from);
  MPI_Finalize();
  return 3;
}
