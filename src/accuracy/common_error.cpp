// SPDX-License-Identifier: BSD-3-Clause
#include "accuracy/common_error.hpp"

#include <algorithm>

namespace entrain::accuracy {

CommonError::CommonError(std::int64_t begin, std::int64_t end)
    : begin_(begin), width_((end - begin) / static_cast<std::int64_t>(k_windows) + 1) {}

std::size_t CommonError::window_of(std::int64_t truth) const {
  const std::int64_t window = (truth - begin_) / width_;
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(window, 0, static_cast<std::int64_t>(k_windows) - 1));
}

void CommonError::add(std::int64_t truth, std::int64_t error) {
  if (own_.empty()) {
    own_.resize(k_windows);
    first_error_ = error;
  }
  Window& window = own_[window_of(truth)];
  ++window.events;
  window.sum += static_cast<long double>(error - first_error_);
}

void CommonError::merge(const CommonError& location) {
  if (location.own_.empty()) return;
  sums_.resize(k_windows, 0);
  ++locations_;
  const auto mean = [&](std::size_t w) {
    return static_cast<long double>(location.first_error_) +
           location.own_[w].sum / static_cast<long double>(location.own_[w].events);
  };
  const auto known = [&](std::size_t w) { return location.own_[w].events > 0; };
  std::size_t last = k_windows;  // the latest window with events
  for (std::size_t w = 0; w < k_windows; ++w) {
    if (!known(w)) continue;
    const std::size_t from = last == k_windows ? 0 : last + 1;
    for (std::size_t gap = from; gap < w; ++gap) {
      const long double share = last == k_windows ? 1
                                                  : static_cast<long double>(gap - last) /
                                                        static_cast<long double>(w - last);
      const long double before = last == k_windows ? mean(w) : mean(last);
      sums_[gap] += before + share * (mean(w) - before);
    }
    sums_[w] += mean(w);
    last = w;
  }
  for (std::size_t w = last + 1; w < k_windows; ++w) sums_[w] += mean(last);
}

double CommonError::at(std::int64_t truth) const {
  if (locations_ == 0) return 0;
  const auto n = static_cast<long double>(locations_);
  // In windows, from the middle of the first one on.
  const long double place =
      static_cast<long double>(truth - begin_) / static_cast<long double>(width_) - 0.5L;
  if (place <= 0) return static_cast<double>(sums_.front() / n);
  const auto before = static_cast<std::size_t>(place);
  if (before + 1 >= k_windows) return static_cast<double>(sums_.back() / n);
  const long double share = place - static_cast<long double>(before);
  return static_cast<double>((sums_[before] + share * (sums_[before + 1] - sums_[before])) / n);
}

}  // namespace entrain::accuracy
