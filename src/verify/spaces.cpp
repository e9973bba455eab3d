// SPDX-License-Identifier: BSD-3-Clause
#include "verify/spaces.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "base/try.hpp"

namespace entrain::verify {

Spaces::Spaces(Team& team, const trace::Definitions& definitions, std::span<const Outline> outlines)
    : sums_(first_world_space(definitions) + std::size_t{2}),
      limits_(sums_.size(), 0),
      aligned_(sums_.size(), false) {
  const std::size_t spaces = sums_.size();
  // Per space callers, then calls; and the largest of four values, of which ~x shows the smallest
  // x.
  std::vector<std::int64_t> total(2 * spaces, 0);
  std::vector<std::int64_t> most(4 * spaces, std::numeric_limits<std::int64_t>::min());
  for (const Outline& outline : outlines) {
    for (const Outline::Column& column : outline.columns) {
      const std::int64_t count = column.count;
      const auto operations = static_cast<std::int64_t>(column.operations);
      ++total[column.space];
      total[spaces + column.space] += count;
      std::size_t at = column.space;
      for (const std::int64_t value : {count, ~count, operations, ~operations}) {
        most[at] = std::max(most[at], value);
        at += spaces;
      }
    }
  }
  team.reduce(Team::Reduction::sum, total);
  team.reduce(Team::Reduction::max, most);
  for (SpaceIndex s = 0; s < spaces; ++s) {
    if (total[s] == 0) continue;
    sums_[s] = {.callers = static_cast<std::uint32_t>(total[s]),
                .shortest = static_cast<std::uint32_t>(~most[spaces + s]),
                .longest = static_cast<std::uint32_t>(most[s]),
                .calls = static_cast<std::uint64_t>(total[spaces + s]),
                .unequal = most[2 * spaces + s] != ~most[3 * spaces + s]};
    if (total[s] > 1) limits_[s] = sums_[s].shortest;  // a single one has no partner
  }
}

bool Spaces::unequal(SpaceIndex first, SpaceIndex end) const {
  for (SpaceIndex s = first; s < end && s < sums_.size(); ++s) {
    if (sums_[s].shortest < sums_[s].longest || sums_[s].unequal) return true;
  }
  return false;
}

/// Per call of a column: its number by a claim, or k_none.
Result<std::vector<std::uint32_t>> Spaces::numbers_of(const std::string& path,
                                                      const Outline::Column& column,
                                                      const trace::ClaimedCalls& claim) const {
  if (const char* const why = refute(claim, column.count, sums_[column.space].longest)) {
    return refuted(
        path, fmt::format("calls of process {} in space {}", claim.process, column.space), why);
  }
  std::vector<std::uint32_t> numbers(column.count, k_none);
  for (const trace::ClaimedRun& run : claim.instances) {
    const auto first = numbers.begin() + run.first;
    std::iota(first, first + run.count, run.second);
  }
  return numbers;
}

Result<void> Spaces::align(const Records& records, SpaceIndex first, std::span<Outline> outlines,
                           Unmatched& unmatched) {
  const std::string& path = records.share.trace.path;
  const SpaceIndex end = first_world_space(records.share.trace.definitions);
  for (SpaceIndex s = first; s < end; ++s) aligned_[s] = sums_[s].callers > 0;
  std::vector<std::int64_t> callers(sums_.size(), 0);  // processes with numbered calls
  std::size_t claims = 0;
  const auto number = [&](Outline& outline) -> Result<void> {
    std::vector<std::vector<std::uint32_t>> numbers(outline.columns.size());
    for (std::size_t c = 0; c < numbers.size(); ++c) {
      Outline::Column& column = outline.columns[c];
      if (!aligned_[column.space]) continue;
      const auto* const claim =
          find_claim(records.witness.calls, std::tuple(column.space, outline.process));
      numbers[c].assign(column.count, k_none);
      if (claim != nullptr) {
        TRY_ASSIGN(numbers[c], numbers_of(path, column, *claim));
        ++claims;
        unmatched.ambiguous_calls += claim->ambiguous;
        unmatched.calls_in_gaps += claim->in_gaps;
      }
      const bool any = std::ranges::any_of(numbers[c], [](auto n) { return n != k_none; });
      column.count = any ? sums_[column.space].longest : 0;
      callers[column.space] += any ? 1 : 0;
    }
    for (Outline::Call& call : outline.calls) {
      if (!aligned_[outline.columns[call.column].space]) continue;
      call.order = numbers[call.column][call.order];
      if (call.order == k_none) ++unmatched.collectives_incomplete;
    }
    return {};
  };
  Result<void> all;
  for (Outline& outline : outlines) {
    if (all) all = number(outline);
  }
  if (all && claims != records.about(records.witness.calls)) {
    all = refuted(path, "calls", "of claimed calls there are none, or none is missing");
  }
  TRY(records.share.team.agree(std::move(all)));
  records.share.team.reduce(Team::Reduction::sum, callers);
  for (SpaceIndex s = 0; s < sums_.size(); ++s) {
    if (aligned_[s]) limits_[s] = callers[s] < 2 ? 0 : sums_[s].longest;
  }
  return {};
}

bool Spaces::cut(Team& team, const std::vector<Disagreement>& found, Unmatched& unmatched) {
  const std::vector<std::uint32_t> complete = limits_;
  const std::vector<Disagreement> all = gather_everywhere(team, found);
  for (const Disagreement& d : all) limits_[d.space] = std::min(limits_[d.space], d.ordinal);
  for (SpaceIndex s = 0; s < sums_.size() && team.rank() == 0; ++s) {
    if (aligned_[s]) continue;
    const Sum& sum = sums_[s];
    const std::uint64_t used = limits_[s];
    if (used < complete[s]) {
      unmatched.collectives_mismatched += static_cast<std::int64_t>(sum.calls - used * sum.callers);
    } else {
      unmatched.collectives_incomplete += sum.longest - sum.shortest;
    }
  }
  return !all.empty();
}

}  // namespace entrain::verify
