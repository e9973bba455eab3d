// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <entrain/synth.hpp>

#include "trace/definitions.hpp"

namespace entrain::sim {

/// The regions of every synthetic program, by position in the definitions.
enum Region : std::uint32_t {
  k_main,
  k_iteration,
  k_mpi_init,
  k_mpi_finalize,
  k_mpi_send,
  k_mpi_recv,
  k_mpi_isend,
  k_mpi_irecv,
  k_mpi_wait,
  k_mpi_waitall,
  k_mpi_barrier,
  k_mpi_bcast,
  k_mpi_gather,
  k_mpi_gatherv,
  k_mpi_scatter,
  k_mpi_allgather,
  k_mpi_allgatherv,
  k_mpi_alltoall,
  k_mpi_allreduce,
  k_mpi_reduce,
  k_mpi_reduce_scatter_block,
  k_mpi_scan,
  k_mpi_exscan,
  k_mpi_ibarrier,
  k_mpi_ibcast,
  k_mpi_iallreduce,
  k_first_function,  ///< first of the functions of the user
};
/// Functions of the user, a power of two.
inline constexpr std::uint32_t k_functions = 16;

/// Communicators without common members that together hold every process, e.g. all rows of a grid.
/// Ranks ascend with the number of the process.
struct Partition {
  std::uint32_t first = 0;          ///< position of the first communicator in the definitions
  std::vector<std::uint32_t> part;  ///< communicator of each process, counted from `first`
  std::vector<std::uint32_t> rank;  ///< each process's rank there
  std::vector<std::uint32_t> size;  ///< members of each communicator
};

/// Directions in which a process has a neighbour; d and d ^ 1 are opposite ones.
inline constexpr unsigned k_directions = 4;

/// The part of a synthetic program that does not change while it runs.
struct Layout {
  std::uint32_t processes = 1;
  Partition world;
  Partition rows, columns;  ///< stencil2d only
  Partition halves;         ///< mixed only
  unsigned directions = 0;  ///< 0: nobody has neighbours; 2: a ring; 4: a grid
  /// Per direction and process: its neighbour there, k_none at the border of the grid.
  std::array<std::vector<std::uint32_t>, k_directions> neighbour;
  /// Everything but clock and numbers of events.
  trace::Definitions definitions;
};

/// Lays out the processes for a pattern. A grid is as square as the number of processes allows.
Layout make_layout(const SynthOptions& options);

}  // namespace entrain::sim
