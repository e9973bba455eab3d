// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "trace/clock_domains.hpp"
#include "trace/definitions.hpp"

namespace entrain::trace {

/// The rows (and columns) of the matrix, and the clocks: what a page has places for. Found from the
/// definitions alone, so every process of a run has the same.
///
/// Up to 64 processes have a row each, in order of their machines. More of them share rows: those
/// of a machine, or where that does not make 2 to 64 rows, neighbours in that order.
struct Layout {
  struct Row {
    std::string name;
    std::uint32_t node = 0;  ///< position in `nodes`, of its first process
    std::uint32_t processes = 1;
  };
  struct Clock {
    std::string name;
    std::uint32_t node = 0;
    LocationIndex location = k_none;  ///< its first one with events, else its first one
    std::uint32_t locations = 1;
  };

  std::vector<std::string> nodes;  ///< names of machines, in the order of rows
  std::vector<Row> rows;
  std::vector<Clock> clocks;
  std::vector<std::uint32_t> row_of;    ///< each location's row
  std::vector<std::uint32_t> clock_of;  ///< each location's clock
  std::vector<std::uint32_t> node_of;   ///< each location's position in `nodes`
  enum class Rows : std::uint8_t { processes, machines, neighbours } grouping = Rows::processes;
};

/// With more rows, cells are too small to be read or hit.
inline constexpr std::size_t k_most_rows = 64;

/// `clocks`: the locations that share one.
Layout make_layout(const Definitions& definitions, const ClockDomains& clocks);

}  // namespace entrain::trace
