/* SPDX-License-Identifier: BSD-3-Clause */
/* connect, for three processes: rank 0 accepts a connection of rank 1, then two of rank 2, and
 * sends a message through each. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  static const char* const names[] = {"first", "second", "third"};
  int rank, value = 7;
  char port[MPI_MAX_PORT_NAME];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; ++i) {
    const int other = i == 0 ? 1 : 2;
    MPI_Comm between;
    if (rank == 0) {
      MPI_Open_port(MPI_INFO_NULL, port);
      MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, other, 0, MPI_COMM_WORLD);
      MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
      MPI_Comm_set_name(between, names[i]);
      MPI_Send(&value, 1, MPI_INT, 0, i, between);
      MPI_Comm_disconnect(&between);
      MPI_Close_port(port);
    } else if (rank == other) {
      MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
      MPI_Recv(&value, 1, MPI_INT, 0, i, between, MPI_STATUS_IGNORE);
      MPI_Comm_disconnect(&between);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("connected\n");
  MPI_Finalize();
  return 0;
}
