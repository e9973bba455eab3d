// SPDX-License-Identifier: BSD-3-Clause
#include "formats/paraver/operations.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace entrain::paraver {

namespace {

struct Known {
  std::uint64_t value;
  const char* name;
  Shape shape;
};

constexpr std::uint64_t k_barrier = 8;

/// The values of MPI_EventEncoding.h of Extrae.
constexpr std::array<Known, 19> k_known{{
    {7, "Bcast", Shape::from_root},    {k_barrier, "Barrier", Shape::all},
    {9, "Reduce", Shape::to_root},     {10, "Allreduce", Shape::all},
    {11, "Alltoall", Shape::all},      {12, "Alltoallv", Shape::sparse},
    {13, "Gather", Shape::to_root},    {14, "Gatherv", Shape::to_root},
    {15, "Scatter", Shape::from_root}, {16, "Scatterv", Shape::from_root},
    {17, "Allgather", Shape::all},     {18, "Allgatherv", Shape::all},
    {30, "Scan", Shape::scan},         {80, "Reduce_scatter", Shape::all},
    {154, "Ireduce", Shape::none},     {155, "Iallreduce", Shape::none},
    {156, "Ibarrier", Shape::none},    {168, "Reduce_scatter_block", Shape::all},
    {170, "Alltoallw", Shape::sparse},
}};

}  // namespace

Operation operation_of(std::uint64_t value) {
  const auto* const known = std::ranges::find(k_known, value, &Known::value);
  if (known == k_known.end()) return {fmt::format("operation {}", value), Shape::none};
  return {known->name, known->shape};
}

bool is_barrier(std::uint64_t value) { return value == k_barrier; }

}  // namespace entrain::paraver
