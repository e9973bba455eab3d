// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/mpi/real_mpi.hpp"

namespace entrain::record {

/// All processes that are recorded, on a communicator that the program does not know. Its ranks are
/// those of MPI_COMM_WORLD. All functions but the accessors are collective; no lock may be held
/// while one of them runs.
class World {
 public:
  void join();
  void leave();

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] MPI_Group group() const { return group_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  /// True if `good` is true in all processes.
  [[nodiscard]] bool all_agree(bool good) const;
  /// The smallest of all processes' numbers.
  [[nodiscard]] int smallest(int own) const;
  void wait_for_all() const;
  /// Numbers of rank 0 for all.
  void broadcast(int* first, int count) const;
  /// Rank 0's text for all.
  [[nodiscard]] std::string text_of_first(const std::string& own) const;
  /// The texts of all processes on rank 0, by rank; nothing on the others. Each may be of any
  /// length.
  [[nodiscard]] std::vector<std::string> gather(const std::string& own) const;
  /// The text for each process, from rank 0, which has one per rank; the others give none.
  [[nodiscard]] std::string scatter(const std::vector<std::string>& texts) const;

 private:
  [[nodiscard]] std::uint64_t longest(std::uint64_t own) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Group group_ = MPI_GROUP_NULL;
  int rank_ = 0, size_ = 0;
};

}  // namespace entrain::record
