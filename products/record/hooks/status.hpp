// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "record/mpi/real_mpi.hpp"

namespace entrain::record {

/// Stands in for a status that the program ignores: the recorder needs it.
class OwnStatus {
 public:
  explicit OwnStatus(MPI_Status*& status) {
    if (status == MPI_STATUS_IGNORE) status = &own_;
  }

 private:
  MPI_Status own_{};
};

/// The same for arrays.
class OwnStatuses {
 public:
  OwnStatuses(MPI_Status*& statuses, int count) {
    if (statuses != MPI_STATUSES_IGNORE || count <= 0) return;
    if (count > k_few) many_.resize(static_cast<std::size_t>(count));
    statuses = count > k_few ? many_.data() : few_;
  }

 private:
  static constexpr int k_few = 16;
  MPI_Status few_[k_few];
  std::vector<MPI_Status> many_;
};

}  // namespace entrain::record
