// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include <entrain/align.hpp>
#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "engine/mu.hpp"
#include "engine/timeline.hpp"
#include "page/data.hpp"

namespace entrain::engine {

/// Clocks and edges in the form that causal/ works on; they are not needed afterwards.
struct AlignInput {
  GivenTrace given;
  Counters left_out;                      ///< as AlignReport
  ClockKind kind = ClockKind::automatic;  ///< of the clocks, if they say it
};

/// Checks clocks and edges and takes them over. Errors: those of edges::check() and
/// edges::graph_of(); ErrorKind::usage for options that need an archive.
Result<AlignInput> take_edges(const Clocks& clocks, const Edges& edges, const AlignOptions& options,
                              Progress* progress);

/// What the caller takes beside the report.
struct AlignExtras {
  /// Reports as text, which this room cannot make: bounds.csv and report.json. May be empty.
  std::function<std::string(const AlignReport&)> bounds, report;
  page::Data* page = nullptr;  ///< to be filled with what a page shows; null: nobody wants one
};

/// entrain::align() of tables.
Result<AlignReport> align(const AlignFiles& files, const AlignOptions& options,
                          const AlignExtras& extras, Progress* progress);

/// entrain::align(), after take_edges(). `page`: as AlignExtras::page.
Result<Alignment> align(AlignInput input, const AlignOptions& options, page::Data* page,
                        Progress* progress);

}  // namespace entrain::engine
