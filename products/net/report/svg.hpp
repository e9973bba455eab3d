// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace entrain::net {

/// A line, or marks, of a plot.
struct PlotSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< finite, x rising for lines
  bool marks_only = false;
};

/// A plot of lines over one horizontal axis; both axes begin at 0 or below.
struct Plot {
  std::string title;
  std::string x_label, y_label;
  std::vector<PlotSeries> series;
};

/// The plot as an SVG document that stands alone.
std::string to_svg(const Plot& plot);

}  // namespace entrain::net
