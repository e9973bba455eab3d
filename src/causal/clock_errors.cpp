// SPDX-License-Identifier: BSD-3-Clause
#include "causal/clock_errors.hpp"

#include <algorithm>
#include <cmath>

namespace entrain::causal {

double ClockErrors::operator()(std::uint32_t clock, std::int64_t time) const {
  const double x = static_cast<double>(time - begin_) / spacing_;
  const double piece = std::clamp(std::floor(x), 0.0, static_cast<double>(knots_ - 2));
  const auto k = static_cast<std::size_t>(piece);
  const auto values = of(clock);
  return values[k] + (x - piece) * (values[k + 1] - values[k]);
}

}  // namespace entrain::causal
