// SPDX-License-Identifier: BSD-3-Clause
#include "clc/forward.hpp"

#include <array>
#include <cstdint>

namespace entrain::clc {

void agree_on_counts(Team& team, ForwardTimes& pass) {
  std::array<std::int64_t, 2> largest{pass.error, pass.overflow ? 1 : 0};
  team.reduce(Team::Reduction::max, largest);
  pass.error = largest[0];
  pass.overflow = largest[1] != 0;
  team.reduce(Team::Reduction::max, pass.error_of);
  pass.jumps = static_cast<std::uint64_t>(
      team.reduce(Team::Reduction::sum, static_cast<std::int64_t>(pass.jumps)));
}

}  // namespace entrain::clc
