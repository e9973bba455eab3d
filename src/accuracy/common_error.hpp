// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace entrain::accuracy {

/// The part of the errors that all locations have in common, by window of time: no message shows
/// it, and no correction can know it.
///
/// The run is cut into windows. The error of a location in a window is the mean over its events;
/// where it has none, straight between its windows, and level outside. The common error is the mean
/// over all locations, each weighing the same, and straight between the middles of windows.
///
/// Each location has an object that takes its events; merged in a fixed order they give the curve
/// of all.
class CommonError {
 public:
  static constexpr std::size_t k_windows = 1024;

  CommonError() = default;
  /// Times of events lie between `begin` and `end`, ticks of the truth.
  CommonError(std::int64_t begin, std::int64_t end);

  /// An event of the location of this object.
  void add(std::int64_t truth, std::int64_t error);
  /// Adds a location. It must have the same span.
  void merge(const CommonError& location);

  /// The common error at a true time, ticks; 0 if no location was merged.
  [[nodiscard]] double at(std::int64_t truth) const;

 private:
  struct Window {
    std::uint64_t events = 0;
    long double sum = 0;  ///< relative to `first_error_`
  };

  [[nodiscard]] std::size_t window_of(std::int64_t truth) const;

  std::int64_t begin_ = 0, width_ = 1;
  std::int64_t first_error_ = 0;   ///< first error of this location, ticks
  std::vector<Window> own_;        ///< windows of this location; empty without events
  std::vector<long double> sums_;  ///< sums of the merged locations, one for each window
  std::size_t locations_ = 0;
};

}  // namespace entrain::accuracy
