// SPDX-License-Identifier: BSD-3-Clause
#include "clc/fallback_forward.hpp"

#include "base/try.hpp"

namespace entrain::clc {

Result<std::vector<ForwardTimes>> FallbackForward::run(std::span<const Decimal9> gammas) {
  for (; !ways_.empty(); ways_.erase(ways_.begin())) {
    TRY_ASSIGN(std::vector<ForwardTimes> passes, ways_.front()->run(gammas));
    if (!passes.empty()) return passes;
  }
  return std::vector<ForwardTimes>();
}

}  // namespace entrain::clc
