// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "base/big_vector.hpp"
#include "base/edge_list.hpp"
#include "engine/verbs.hpp"
#include "formats/edge_graph.hpp"

namespace entrain::engine {

/// The edges of an archive, its locations as clocks, and what a table of them needs.
struct ArchiveEdges {
  Clocks clocks;
  std::vector<std::string> names;  ///< names of the clocks, as ClockMaps::names
  EdgeList list;
  CheckReport report;  ///< counts of the edges by the clocks as measured
  /// Effect minus cause by the clocks as measured: of edges; and per member of instances, of ends
  /// the smallest one, else tables::Margins::k_none.
  BigVector<std::int64_t> edge_margins, member_margins;
  /// Positions of a begin and of the end that waits for it last, among the members, and of their
  /// instance.
  struct Deciding {
    std::uint64_t begin = 0, end = 0, instance = 0;
  };
  BigVector<Deciding> deciding;  ///< one per end that waits for another clock, in their order
};

/// Reads an archive and matches it, in this process alone. align() makes of clocks and list the
/// maps that clock_maps() without amortization makes of the archive, to the bit. Errors: those of
/// find_timeline().
Result<ArchiveEdges> read_edges(const Paths& archive, const CheckOptions& options,
                                Progress* progress);

}  // namespace entrain::engine
