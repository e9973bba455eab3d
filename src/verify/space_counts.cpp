// SPDX-License-Identifier: BSD-3-Clause
#include "verify/space_counts.hpp"

#include <algorithm>
#include <utility>

namespace entrain::verify {

void SpaceCounts::merge(std::vector<Sum>& sums) {
  std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) { return a.space < b.space; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (kept == 0 || sums[kept - 1].space != sums[i].space) {
      sums[kept++] = sums[i];
      continue;
    }
    Sum& to = sums[kept - 1];
    to.unequal = to.unequal || sums[i].unequal || to.operations != sums[i].operations;
    if (sums[i].longest > to.longest ||
        (sums[i].longest == to.longest && sums[i].first_seat < to.first_seat)) {
      to.operations = sums[i].operations;
      to.first_seat = sums[i].first_seat;
    }
    to.columns += sums[i].columns;
    to.shortest = std::min(to.shortest, sums[i].shortest);
    to.longest = std::max(to.longest, sums[i].longest);
    to.calls += sums[i].calls;
  }
  sums.resize(kept);
}

SpaceCounts::SpaceCounts(Team& team, const trace::Definitions& definitions,
                         std::span<const Outline> outlines)
    : limits_(definitions.comms.size() + definitions.windows.size(), 0),
      aligned_(limits_.size(), false) {
  std::vector<Sum> mine;
  for (const Outline& outline : outlines) {
    for (const Outline::Column& column : outline.columns) {
      mine.push_back({.space = column.space,
                      .columns = 1,
                      .shortest = column.count,
                      .longest = column.count,
                      .calls = column.count,
                      .operations = column.operations,
                      .first_seat = std::uint64_t{column.seat.group} << 32 | column.seat.rank});
    }
    if (mine.size() > 2 * limits_.size() + 1024) merge(mine);
  }
  merge(mine);
  std::vector<std::vector<Sum>> by_counter(team.size());
  for (const Sum& sum : mine) by_counter[sum.space % team.size()].push_back(sum);
  for (const auto& part : exchange(team, std::move(by_counter))) {
    own_.insert(own_.end(), part.begin(), part.end());
  }
  merge(own_);
  std::vector<Disagreement> limits;
  for (const Sum& sum : own_) {
    if (sum.columns > 1)
      limits.push_back({sum.space, sum.shortest});  // a single one has no partner
  }
  for (const Disagreement& limit : gather_everywhere(team, limits)) {
    limits_[limit.space] = limit.ordinal;
  }
}

bool SpaceCounts::unequal(Team& team, SpaceIndex first, SpaceIndex end) const {
  return team.any(std::any_of(own_.begin(), own_.end(), [&](const Sum& sum) {
    return sum.space >= first && sum.space < end && (sum.shortest < sum.longest || sum.unequal);
  }));
}

std::vector<SpaceCounts::Reference> SpaceCounts::references(Team& team) const {
  std::vector<Reference> own;
  for (const Sum& sum : own_) own.push_back({sum.space, sum.longest, sum.operations});
  return gather_everywhere(team, own);
}

void SpaceCounts::align(std::span<const Reference> aligned) {
  for (const Reference& reference : aligned) {
    limits_[reference.space] = reference.calls;
    aligned_[reference.space] = true;
  }
}

void SpaceCounts::cut(Team& team, const std::vector<Disagreement>& found, Unmatched& unmatched) {
  const std::vector<std::uint32_t> complete = limits_;
  for (const Disagreement& d : gather_everywhere(team, found)) {
    limits_[d.space] = std::min(limits_[d.space], d.ordinal);
  }
  for (const Sum& sum : own_) {
    if (aligned_[sum.space]) continue;
    const std::uint64_t used = limits_[sum.space];
    if (used < complete[sum.space]) {
      unmatched.collectives_mismatched += static_cast<std::int64_t>(sum.calls - used * sum.columns);
    } else {
      unmatched.collectives_incomplete += sum.longest - sum.shortest;
    }
  }
}

}  // namespace entrain::verify
