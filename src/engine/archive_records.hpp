// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "base/big_vector.hpp"
#include "base/edge_list.hpp"
#include "constraints/context.hpp"
#include "engine/timeline.hpp"
#include "engine/verbs.hpp"
#include "explain/explain.hpp"
#include "formats/edge_graph.hpp"
#include "formats/source.hpp"

namespace entrain::engine {

/// A trace as tables of clocks and edges, which explanations work on.
struct ArchiveRecords {
  Clocks run;                         ///< one clock per domain
  std::vector<std::string> names;     ///< names of the clocks, for reports
  std::vector<std::int64_t> offsets;  ///< one per clock, at its first event, as measured, ticks
  EdgeList list;                      ///< order: that of the graph
  bool are_reduced = false;           ///< some clock had several begins or ends in an instance
  /// How far edges and instances may be doubted: those between processes of which some have no
  /// record were paired by guesses.
  std::vector<explain::Evidence> edges, instances;
};

/// Clocks and edges of locations, joined to those of domains. The edges keep their order.
ArchiveRecords records_of_domains(const Timeline& timeline, const Clocks& all, const Edges& edges);

/// The records of an archive that this process holds as a whole; `clock_samples`: option of that
/// name. Errors: those of Source::clock_table().
Result<ArchiveRecords> records_of(const Timeline& timeline, const formats::Source& source,
                                  const std::string& clock_samples);

/// True if a clock has two begins or two ends in a scan, which tables cannot say.
bool has_clocks_twice(const ArchiveRecords& records);

/// Takes pairs and instances out of the edges of a graph. `wrong`: in order; an instance by the
/// location and the stamp of one of its begins, twice. Collective.
void drop_pairs(const constraints::Context& context, std::span<const trace::WrongPair> wrong,
                match::Graph& graph);

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
