// SPDX-License-Identifier: BSD-3-Clause
#include "record/recorder/neighbours.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace entrain::record {

namespace {

/// The end of an open grid is nobody for Partners, too.
std::vector<int> named(std::vector<int> ranks) {
  std::replace(ranks.begin(), ranks.end(), MPI_PROC_NULL, -1);
  return ranks;
}

Partners grid_neighbours(MPI_Comm comm) {
  int dimensions = 0;
  real.MPI_Cartdim_get(comm, &dimensions);
  std::vector<int> ranks;
  for (int d = 0; d < dimensions; ++d) {
    int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
    real.MPI_Cart_shift(comm, d, 1, &below, &above);
    ranks.insert(ranks.end(), {below, above});
  }
  return {named(ranks), named(ranks)};
}

Partners graph_neighbours(MPI_Comm comm) {
  int rank = 0, count = 0;
  real.MPI_Comm_rank(comm, &rank);
  real.MPI_Graph_neighbors_count(comm, rank, &count);
  std::vector<int> ranks(static_cast<std::size_t>(count));
  real.MPI_Graph_neighbors(comm, rank, count, ranks.data());
  return {ranks, ranks};
}

Partners dist_graph_neighbours(MPI_Comm comm) {
  int in = 0, out = 0, weighted = 0;
  real.MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  std::vector<int> from(static_cast<std::size_t>(in)), to(static_cast<std::size_t>(out));
  // The standard does not allow MPI_UNWEIGHTED for a weighted graph.
  std::vector<int> in_weights(from.size()), out_weights(to.size());
  real.MPI_Dist_graph_neighbors(comm, in, from.data(),
                                weighted != 0 ? in_weights.data() : MPI_UNWEIGHTED, out, to.data(),
                                weighted != 0 ? out_weights.data() : MPI_UNWEIGHTED);
  return {named(std::move(to)), named(std::move(from))};
}

}  // namespace

Partners neighbours_of(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  real.MPI_Topo_test(comm, &kind);
  if (kind == MPI_CART) return grid_neighbours(comm);
  if (kind == MPI_GRAPH) return graph_neighbours(comm);
  if (kind == MPI_DIST_GRAPH) return dist_graph_neighbours(comm);
  return {{}, {}};
}

}  // namespace entrain::record
