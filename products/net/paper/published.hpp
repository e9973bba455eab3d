// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

/// The values that the paper prints, beside those that its equations give. The misprints of the
/// paper are known here. Only `entrain net tables` and its tests use this folder.
namespace entrain::net {

enum class Verdict {
  matches,   ///< the published reading gives the printed digits
  misprint,  ///< it does not, for a known reason: see the note
  differs,   ///< it does not, for no known reason
};
const char* name_of(Verdict verdict);

struct PublishedCell {
  std::string table = {};  ///< "table 3", "text, 5.1"
  std::string row = {};
  std::string column = {};
  std::string published = {};        ///< printed value
  std::string computed = {};         ///< value in the published reading, with as many digits
  std::string printed_reading = {};  ///< value in the other reading; "" where the reading does not
                                     ///< matter
  Verdict verdict = Verdict::differs;
  std::string note = {};  ///< explains a misprint; else ""
};

/// All values of tables 1 to 4 and of the text, in the order of the paper.
std::vector<PublishedCell> published_cells();

struct FigureSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

/// The data of a figure of the paper.
struct Figure {
  std::string name;  ///< "figure-4"; also the name of its file
  std::string title;
  std::string x_label, y_label;
  std::vector<FigureSeries> series;
};

/// Figures 4 to 6 in both readings, with the points that the text of the paper names.
std::vector<Figure> published_figures();

}  // namespace entrain::net
