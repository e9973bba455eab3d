// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

/// The values that Song's paper prints, beside what its equations give.
namespace entrain::net {

enum class Verdict {
  matches,   ///< the published reading gives the printed digits
  misprint,  ///< it does not, and it is known why: see the note
  differs,
};
const char* name_of(Verdict verdict);

struct PublishedCell {
  std::string table;  ///< "table 3", "text, 5.1"
  std::string row;
  std::string column;
  std::string published;  ///< as printed
  std::string computed;   ///< published reading, to as many digits
  std::string
      printed_reading;  ///< the same with the equations as printed; "" where they do not matter
  Verdict verdict = Verdict::differs;
  std::string note;  ///< of a misprint
};

/// Every value of tables 1 to 4 and of the text, in the order of the paper.
std::vector<PublishedCell> published_cells();

struct FigureSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

/// What a figure of the paper shows.
struct Figure {
  std::string name;  ///< "figure-4", also of its file
  std::string title;
  std::string x_label, y_label;
  std::vector<FigureSeries> series;
};

/// Figures 4 to 6: both readings, and the points that the text names.
std::vector<Figure> published_figures();

}  // namespace entrain::net
