// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/layout.hpp"

#include <algorithm>
#include <functional>

#include <fmt/core.h>

namespace entrain::sim {

namespace {

// OTF2_RegionRole and OTF2_Paradigm.
constexpr std::uint8_t k_role_function = 1, k_role_barrier = 15, k_role_one_to_all = 23,
                       k_role_all_to_one = 24, k_role_all_to_all = 25, k_role_other = 26,
                       k_role_point_to_point = 28;
constexpr std::uint8_t k_paradigm_user = 1, k_paradigm_mpi = 4;

struct RegionText {
  const char* name;
  std::uint8_t role;
};

/// In the order of Region.
constexpr RegionText k_regions[] = {
    {"main", k_role_function},
    {"iteration", k_role_function},
    {"MPI_Init", k_role_function},
    {"MPI_Finalize", k_role_function},
    {"MPI_Send", k_role_point_to_point},
    {"MPI_Recv", k_role_point_to_point},
    {"MPI_Isend", k_role_point_to_point},
    {"MPI_Irecv", k_role_point_to_point},
    {"MPI_Wait", k_role_point_to_point},
    {"MPI_Waitall", k_role_point_to_point},
    {"MPI_Barrier", k_role_barrier},
    {"MPI_Bcast", k_role_one_to_all},
    {"MPI_Gather", k_role_all_to_one},
    {"MPI_Gatherv", k_role_all_to_one},
    {"MPI_Scatter", k_role_one_to_all},
    {"MPI_Allgather", k_role_all_to_all},
    {"MPI_Allgatherv", k_role_all_to_all},
    {"MPI_Alltoall", k_role_all_to_all},
    {"MPI_Allreduce", k_role_all_to_all},
    {"MPI_Reduce", k_role_all_to_one},
    {"MPI_Reduce_scatter_block", k_role_all_to_all},
    {"MPI_Scan", k_role_other},
    {"MPI_Exscan", k_role_other},
    {"MPI_Ibarrier", k_role_barrier},
    {"MPI_Ibcast", k_role_one_to_all},
    {"MPI_Iallreduce", k_role_all_to_all},
};
static_assert(std::size(k_regions) == k_first_function);

constexpr const char* k_function_names[] = {
    "advance",       "apply_boundary", "assemble",      "equation_of_state",
    "flux",          "gradient",       "interpolate",   "limit",
    "load_element",  "matrix_product", "precondition",  "reconstruct",
    "residual_norm", "source_terms",   "store_element", "viscosity",
};
static_assert(std::size(k_function_names) == k_functions);

bool is_mpi(std::uint32_t region) { return region >= k_mpi_init && region < k_first_function; }

void define_regions(trace::Definitions& definitions) {
  for (std::uint32_t r = 0; r < k_first_function + k_functions; ++r) {
    const bool function = r >= k_first_function;
    trace::Region region;
    region.id = r;
    region.name = function ? k_function_names[r - k_first_function] : k_regions[r].name;
    region.role = function ? k_role_function : k_regions[r].role;
    region.paradigm = is_mpi(r) ? k_paradigm_mpi : k_paradigm_user;
    definitions.regions.push_back(region);
  }
}

/// Machine, nodes, processes, and their one location each.
void define_machine(const SynthOptions& options, trace::Definitions& definitions) {
  definitions.tree_nodes.push_back({0, "machine", "machine", k_none, false});
  for (std::uint32_t l = 0; l < options.locations; ++l) {
    const auto node = static_cast<std::uint32_t>(l / options.locations_per_node);
    if (node + 1 == definitions.tree_nodes.size()) {
      definitions.tree_nodes.push_back({node + 1, fmt::format("node{}", node), "node", 0, true});
    }
    definitions.location_groups.push_back({l, fmt::format("MPI Rank {}", l), k_none, node + 1});
    definitions.locations.push_back({l, "Master thread", trace::LocationType::cpu_thread, 0, l});
  }
}

/// Splits the processes by `part_of` and defines the communicators: `name` for one alone, else
/// with a number.
Partition partition(const char* name, std::uint32_t parts,
                    const std::function<std::uint32_t(std::uint32_t)>& part_of, Layout& layout) {
  Partition result;
  result.first = static_cast<std::uint32_t>(layout.definitions.comms.size());
  result.size.resize(parts);
  for (std::uint32_t c = 0; c < parts; ++c) {
    trace::Comm comm;
    comm.id = result.first + c;
    comm.name = parts == 1 ? name : fmt::format("{} {}", name, c);
    layout.definitions.comms.push_back(comm);
  }
  for (std::uint32_t l = 0; l < layout.processes; ++l) {
    const std::uint32_t c = part_of(l);
    result.part.push_back(c);
    result.rank.push_back(result.size[c]++);
    layout.definitions.comms[result.first + c].group_a.push_back(l);
  }
  return result;
}

/// The largest divisor of `count` that is not above its square root.
std::uint32_t rows_of(std::uint32_t count) {
  std::uint32_t rows = 1;
  for (std::uint64_t d = 2; d * d <= count; ++d) {
    if (count % d == 0) rows = static_cast<std::uint32_t>(d);
  }
  return rows;
}

void lay_out_ring(Layout& layout) {
  const std::uint32_t n = layout.processes;
  layout.directions = 2;
  for (std::uint32_t l = 0; l < n; ++l) {
    layout.neighbour[0].push_back((l + 1) % n);
    layout.neighbour[1].push_back((l + n - 1) % n);
  }
}

void lay_out_grid(Layout& layout) {
  const std::uint32_t rows = rows_of(layout.processes);
  const std::uint32_t columns = layout.processes / rows;
  layout.directions = 4;
  for (std::uint32_t l = 0; l < layout.processes; ++l) {
    const std::uint32_t row = l / columns, column = l % columns;
    layout.neighbour[0].push_back(column + 1 < columns ? l + 1 : k_none);
    layout.neighbour[1].push_back(column > 0 ? l - 1 : k_none);
    layout.neighbour[2].push_back(row + 1 < rows ? l + columns : k_none);
    layout.neighbour[3].push_back(row > 0 ? l - columns : k_none);
  }
  layout.rows = partition(
      "row", rows, [=](std::uint32_t l) { return l / columns; }, layout);
  layout.columns = partition(
      "column", columns, [=](std::uint32_t l) { return l % columns; }, layout);
}

}  // namespace

Layout make_layout(const SynthOptions& options) {
  Layout layout;
  layout.processes = static_cast<std::uint32_t>(options.locations);
  define_regions(layout.definitions);
  define_machine(options, layout.definitions);
  layout.world = partition(
      "MPI_COMM_WORLD", 1, [](std::uint32_t) { return 0u; }, layout);
  if (options.pattern == SynthPattern::ring || options.pattern == SynthPattern::mixed) {
    lay_out_ring(layout);
  }
  if (options.pattern == SynthPattern::stencil2d) lay_out_grid(layout);
  if (options.pattern == SynthPattern::mixed) {
    const std::uint32_t parts = std::min<std::uint32_t>(layout.processes, 2);
    const std::uint32_t first_half = (layout.processes + 1) / 2;
    layout.halves = partition(
        "half", parts, [=](std::uint32_t l) { return l < first_half ? 0u : 1u; }, layout);
  }
  return layout;
}

}  // namespace entrain::sim
