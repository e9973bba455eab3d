// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "formats/tables/counters.hpp"
#include "formats/tables/reader.hpp"
#include "page/data.hpp"

namespace entrain::engine {

/// Outputs that the caller takes in addition to the report.
struct AlignExtras {
  /// Reports as text, which this room cannot make: bounds.csv and report.json. May be empty.
  std::function<std::string(const AlignReport&)> bounds, report;
  page::Data* page = nullptr;  ///< filled with the contents of a page; null: none is wanted
};

/// Tables of edges and clocks, with their unit and the names of columns.
struct AlignTables {
  tables::Source edges;
  std::vector<tables::Source> clocks{};
  std::uint64_t resolution_hz = 0;  ///< see AlignFiles
  std::string unit{}, columns{};    ///< see AlignFiles
};

struct AlignedTables {
  Clocks clocks;
  Alignment alignment;              ///< its maps in the order of the clocks
  std::vector<tables::Wrap> wraps;  ///< one per clock
};

/// entrain::align() of tables that lie in files or in memory; writes nothing.
Result<AlignedTables> align(const AlignTables& tables, const AlignOptions& options,
                            page::Data* page, Progress* progress);

/// entrain::align() of files.
Result<AlignReport> align(const AlignFiles& files, const AlignOptions& options,
                          const AlignExtras& extras, Progress* progress);

/// entrain::align(). `page`: as AlignExtras::page.
Result<Alignment> align(const Clocks& clocks, const Edges& edges, const AlignOptions& options,
                        page::Data* page, Progress* progress);

}  // namespace entrain::engine
