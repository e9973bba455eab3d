// SPDX-License-Identifier: BSD-3-Clause
#include "engine/correct_options.hpp"

#include "base/exact.hpp"

namespace entrain::engine {

Result<void> check_options(const CorrectOptions& options) {
  const auto usage = [](const char* message) { return fail(ErrorKind::usage, message); };
  if (options.gamma && (options.gamma->billionths <= 0 || options.gamma->billionths > k_billion)) {
    return usage("gamma must lie above 0 and at most at 1");
  }
  // Written so that a value that is no number is refused too, here and below.
  if (options.epsilon_s && !(*options.epsilon_s >= 0)) return usage("epsilon must not be negative");
  if (options.epsilon_s && options.gamma) {
    return usage("epsilon is of no use with a fixed gamma: it decides which gamma is taken");
  }
  if (options.delta_ticks < 0) return usage("delta must not be negative");
  if (options.delta_ticks > 0 && options.measure_delta)
    return usage("delta is either given or measured");
  if (options.max_slope.billionths <= 0) return usage("the largest slope must be above 0");
  if (options.check.mu.source == MuSource::fixed && !(options.check.mu.seconds >= 0)) {
    return usage("mu must not be negative");
  }
  return {};
}

}  // namespace entrain::engine
