// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace entrain::page {

/// A point of a curve: ticks over ticks.
struct Point {
  std::int64_t x = 0, y = 0;

  friend bool operator==(const Point&, const Point&) = default;
};

/// Draws a curve with few points: all of them as long as there are at most `most`, then the lowest
/// and the highest of each of most / 2 columns, in order of x. So no extreme is lost.
///
/// Example: with most = 4 and x from 0 to 9, the points (0,5) (1,9) (2,1) (7,3) (8,3) become (1,9)
/// (2,1) (7,3).
class CurveReducer {
 public:
  /// `begin` < `end`: the range of x, whose ends catch all that lies outside; `most` >= 4.
  CurveReducer(std::int64_t begin, std::int64_t end, std::size_t most);

  /// Points in order of x. Amortised O(1).
  void add(Point point);
  /// Ends the curve.
  std::vector<Point> take();

 private:
  struct Column {
    Point lowest, highest;
    bool used = false;
  };
  void put(Point point);

  std::int64_t begin_;
  double columns_per_tick_;
  std::size_t most_;
  std::vector<Point> points_;
  std::vector<Column> columns_;  ///< empty as long as all points are kept
};

}  // namespace entrain::page
