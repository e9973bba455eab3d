// SPDX-License-Identifier: BSD-3-Clause
#include "record/hooks/bytes.hpp"

namespace entrain::record {

std::uint64_t bytes_of(Count count, MPI_Datatype datatype) {
  // The library would complain of such a type in a call that the program has not made.
  if (count <= 0 || datatype == MPI_DATATYPE_NULL) return 0;
  MPI_Count size = 0;
  real.MPI_Type_size_x(datatype, &size);
  return static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(count);
}

}  // namespace entrain::record
