// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "record/mpi/real_mpi.hpp"

namespace entrain::record {

using Count = MPI_Count;

/// Counts of a v-variant, of either width.
class Counts {
 public:
  Counts(const int* counts) : narrow_(counts) {}
  Counts(const MPI_Count* counts) : wide_(counts) {}
  Count operator[](std::size_t i) const { return wide_ != nullptr ? wide_[i] : narrow_[i]; }
  /// The result of `use` for the array itself: a loop over it asks for the width once.
  template <class Use>
  auto apply(Use use) const {
    return wide_ != nullptr ? use(wide_) : use(narrow_);
  }

 private:
  const int* narrow_ = nullptr;
  const MPI_Count* wide_ = nullptr;
};

/// Bytes of `count` elements. 0 if there are none or the datatype is null, which is an error of the
/// program that its own call reports.
std::uint64_t bytes_of(Count count, MPI_Datatype datatype);

}  // namespace entrain::record
