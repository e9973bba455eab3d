// SPDX-License-Identifier: BSD-3-Clause
#include "match/gaps.hpp"

#include <algorithm>
#include <utility>

namespace entrain::match {

Gaps::Gaps(const Builder& builder, std::uint32_t process) {
  std::uint64_t last = 0;
  bool initialises = false, finalizes = false;
  for (const LocationIndex location : builder.processes()[process]) {
    initialises |= builder.event_counts(location).initialises;
    finalizes |= builder.event_counts(location).finalizes;
    const trace::LocationSkeleton& skeleton = builder.skeleton(location);
    last = std::max(last, skeleton.last);
    for (const trace::Gap& gap : skeleton.gaps) {
      ends_.push_back(gap.end);
      first_ = std::min(first_, gap.begin);
    }
    if (!skeleton.truncated && !skeleton.event_file_missing) continue;
    ends_.push_back(trace::Gap::k_open);
    first_ = std::min(first_, skeleton.last);  // 0 without a file
  }
  if (initialises && !finalizes) {
    ends_.push_back(trace::Gap::k_open);
    first_ = std::min(first_, last);
  }
  std::ranges::sort(ends_);
  if (!ends_.empty()) last_ = ends_.back();
}

Gaps::Gaps(const Builder& builder, const Operations& operations)
    : Gaps(builder, operations.process()) {
  first_ = std::min(first_, operations.first_half_receive());
  last_ = std::max(last_, operations.after_half_receives());
}

void Gaps::mark(std::span<EndRecord> ends, SideFacts& facts) const {
  const auto after = std::ranges::find_if(ends, [&](const auto& e) { return e.time > first_; });
  facts.before_gaps = static_cast<std::uint32_t>(after - ends.begin());
  if (ends_.empty()) return;
  std::ptrdiff_t before = 0;  // gaps that have ended
  for (EndRecord& end : ends) {
    const auto ended = std::ranges::upper_bound(ends_, end.time) - ends_.begin();
    end.after_gap = ended > std::exchange(before, ended);
  }
  facts.ends_in_gap = std::cmp_greater(ends_.size(), before);
}

bool any_inner_gaps(const Builder& builder) {
  for (const std::vector<LocationIndex>& process : builder.processes()) {
    for (const LocationIndex location : process) {
      const std::vector<trace::Gap>& gaps = builder.skeleton(location).gaps;
      if (!gaps.empty() && gaps.front().end != trace::Gap::k_open) return true;
    }
  }
  return false;
}

void find_gaps(Builder& builder) {
  const auto count = static_cast<std::uint32_t>(builder.processes().size());
  if (builder.has_gaps.size() == count) return;
  std::vector<std::int64_t> gaps(count, 0);
  for (std::uint32_t p = 0; p < count; ++p) {
    gaps[p] = Gaps(builder, p).any() ? 1 : 0;
  }
  builder.team().reduce(Team::Reduction::max, gaps);
  builder.has_gaps.assign(gaps.begin(), gaps.end());
}

}  // namespace entrain::match
