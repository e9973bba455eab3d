// SPDX-License-Identifier: BSD-3-Clause
#include "match/gaps.hpp"

#include <algorithm>

namespace entrain::match {

Gaps::Gaps(const Builder& builder, std::uint32_t process) {
  for (const LocationIndex location : builder.processes()[process]) {
    const trace::LocationSkeleton& skeleton = builder.skeleton(location);
    for (const trace::Gap& gap : skeleton.gaps) ends_.push_back(gap.end);
    if (skeleton.truncated) ends_.push_back(trace::Gap::k_open);
  }
  std::sort(ends_.begin(), ends_.end());
}

std::uint32_t Gaps::ended_by(std::uint64_t time) const {
  return static_cast<std::uint32_t>(std::upper_bound(ends_.begin(), ends_.end(), time) -
                                    ends_.begin());
}

bool any_gaps(const Builder& builder) {
  for (const std::vector<LocationIndex>& process : builder.processes()) {
    for (const LocationIndex location : process) {
      const trace::LocationSkeleton& skeleton = builder.skeleton(location);
      if (!skeleton.gaps.empty() || skeleton.truncated) return true;
    }
  }
  return false;
}

}  // namespace entrain::match
