// SPDX-License-Identifier: BSD-3-Clause
#include "page/curve.hpp"

#include <algorithm>
#include <utility>

namespace entrain::page {

CurveReducer::CurveReducer(std::int64_t begin, std::int64_t end, std::size_t most)
    : begin_(begin),
      columns_per_tick_(static_cast<double>(most / 2) /
                        std::max(static_cast<double>(end) - static_cast<double>(begin), 1.0)),
      most_(most) {}

void CurveReducer::add(Point point) {
  if (!columns_.empty()) {
    put(point);
  } else if (points_.size() < most_) {
    points_.push_back(point);
  } else {
    columns_.resize(most_ / 2);
    for (const Point& earlier : points_) put(earlier);
    put(point);
    points_.clear();
  }
}

void CurveReducer::put(Point point) {
  const double at = static_cast<double>(point.x - begin_) * columns_per_tick_;
  const double last = static_cast<double>(columns_.size() - 1);
  Column& column = columns_[static_cast<std::size_t>(std::clamp(at, 0.0, last))];
  if (!column.used) {
    column = {point, point, true};
  } else if (point.y < column.lowest.y) {
    column.lowest = point;
  } else if (point.y > column.highest.y) {
    column.highest = point;
  }
}

std::vector<Point> CurveReducer::take() {
  for (const Column& column : columns_) {
    if (!column.used) continue;
    const bool rising = column.lowest.x <= column.highest.x;
    points_.push_back(rising ? column.lowest : column.highest);
    if (!(column.lowest == column.highest)) {
      points_.push_back(rising ? column.highest : column.lowest);
    }
  }
  columns_.clear();
  return std::exchange(points_, {});
}

}  // namespace entrain::page
