// SPDX-License-Identifier: BSD-3-Clause
#include "clc/decay.hpp"

#include "base/exact.hpp"

namespace entrain::clc {

std::int64_t Decay::at(std::int64_t c, Decimal9 gamma) const {
  if (top == 0) return 0;
  const Int128 fallen =
      floor_div(Int128{k_billion - gamma.billionths} * (Int128{c} - since), k_billion);
  return fallen >= top ? 0 : top - static_cast<std::int64_t>(fallen);
}

}  // namespace entrain::clc
