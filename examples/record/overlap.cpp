// SPDX-License-Identifier: BSD-3-Clause
// Several threads that call MPI at the same time. Each one sums numbers over all processes, with
// non-blocking reductions on its own communicator, while it works on the next numbers. Prints the
// number of collective calls.
//
//   mpicxx -O2 -pthread overlap.cpp -o overlap
//   entrain record -o trace -- mpirun -n 4 ./overlap
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <numeric>
#include <thread>
#include <vector>

namespace {

constexpr int k_threads = 3, k_rounds = 100, k_numbers = 1000;

double work(std::vector<double>& numbers, int round) {
  for (double& number : numbers) number = std::sin(number + round);
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

void sum_up(MPI_Comm comm) {
  std::vector<double> numbers(k_numbers, 1.0);
  double own = work(numbers, 0), sum = 0;
  for (int round = 1; round <= k_rounds; ++round) {
    MPI_Request request;
    MPI_Iallreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, comm, &request);
    const double next = work(numbers, round);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    own = next;
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, rank = 0, size = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int count = provided == MPI_THREAD_MULTIPLE ? k_threads : 1;
  std::vector<MPI_Comm> comms(static_cast<std::size_t>(count));
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> threads;
  for (MPI_Comm comm : comms) {
    if (count > 1) {
      threads.emplace_back(sum_up, comm);
    } else {
      sum_up(comm);
    }
  }
  for (std::thread& thread : threads) thread.join();
  if (rank == 0) std::printf("sent 0\nreceived 0\ncollectives %d\n", size * count * k_rounds);
  MPI_Finalize();
  return 0;
}
