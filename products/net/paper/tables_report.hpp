// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "net/paper/published.hpp"
#include "net/report/svg.hpp"
#include "report/table.hpp"

namespace entrain::net {

/// The result of `net tables`.
struct TablesReport {
  std::vector<PublishedCell> cells;
  std::vector<Figure> figures;
  std::vector<std::string> written;  ///< names of the files with figures

  /// Number of cells that differ, without misprints.
  [[nodiscard]] std::size_t differing() const;
};

std::string to_text(const TablesReport& report, const report::Style& style);

/// Schema entrain.net.tables/1.
nlohmann::ordered_json to_json(const TablesReport& report);
/// to_json() as text.
std::string json_text(const TablesReport& report);

Plot figure_plot(const Figure& figure);

}  // namespace entrain::net
