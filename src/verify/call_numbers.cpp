// SPDX-License-Identifier: BSD-3-Clause
#include "verify/call_numbers.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "verify/claims.hpp"

namespace entrain::verify {

namespace {

class Numbering {
 public:
  Numbering(const trace::Witness& witness, std::vector<SpaceCounts::Reference> references,
            Unmatched& unmatched)
      : witness_(witness),
        references_(std::move(references)),
        callers_(references_.size(), 0),
        unmatched_(unmatched) {}

  void number(Outline& outline) {
    std::vector<std::vector<std::uint32_t>> numbers;
    for (const Outline::Column& column : outline.columns) {
      numbers.push_back(is_numbered(column) ? numbers_of(outline.process, column)
                                            : std::vector<std::uint32_t>());
    }
    for (Outline::Call& call : outline.calls) {
      const Outline::Column& column = outline.columns[call.column];
      if (!is_numbered(column)) continue;
      call.order = numbers[call.column][call.order];
      if (call.order == k_none) ++unmatched_.collectives_incomplete;
    }
    for (std::size_t c = 0; c < numbers.size(); ++c) {
      Outline::Column& column = outline.columns[c];
      if (!is_numbered(column)) continue;
      const bool any = std::any_of(numbers[c].begin(), numbers[c].end(),
                                   [](std::uint32_t number) { return number != k_none; });
      column.count = any ? references_[column.space].calls : 0;
      callers_[column.space] += any ? 1 : 0;
    }
  }

  /// Gives the references of the numbered spaces to `spaces`. Collective.
  void set_limits(Team& team, SpaceCounts& spaces) {
    team.reduce(Team::Reduction::sum, callers_);
    std::vector<SpaceCounts::Reference> numbered;
    for (SpaceCounts::Reference reference : references_) {
      if (reference.space == k_none) continue;
      if (callers_[reference.space] < 2) reference.calls = 0;
      numbered.push_back(reference);
    }
    spaces.align(numbered);
  }

  [[nodiscard]] NumberedCalls outcome() && { return std::move(outcome_); }

 private:
  [[nodiscard]] bool is_numbered(const Outline::Column& column) const {
    return references_[column.space].space != k_none;
  }

  /// Per call of a column: its number, or k_none.
  std::vector<std::uint32_t> numbers_of(std::uint32_t process, const Outline::Column& column) {
    const SpaceCounts::Reference& reference = references_[column.space];
    std::vector<std::uint32_t> numbers(column.count, k_none);
    const auto* const claim = find_claim(witness_.calls, std::tuple(column.space, process));
    if (claim == nullptr) {
      if (column.count == reference.calls && column.operations == reference.operations) {
        std::iota(numbers.begin(), numbers.end(), 0U);
      }
      return numbers;
    }
    ++outcome_.claims;
    if (const char* const why = refute(*claim, column.count, reference.calls)) {
      if (outcome_.why == nullptr) {
        outcome_ = {outcome_.claims,
                    fmt::format("calls of process {} in space {}", process, column.space), why};
      }
      return numbers;
    }
    for (const trace::ClaimedRun& run : claim->instances) {
      const auto first = numbers.begin() + run.first;
      std::iota(first, first + run.count, run.second);
    }
    unmatched_.ambiguous_calls += claim->ambiguous;
    unmatched_.calls_in_gaps += claim->in_gaps;
    return numbers;
  }

  const trace::Witness& witness_;
  std::vector<SpaceCounts::Reference> references_;  ///< one per space; space k_none: not numbered
  std::vector<std::int64_t> callers_;               ///< per space: processes with numbered calls
  Unmatched& unmatched_;
  NumberedCalls outcome_;
};

}  // namespace

NumberedCalls number_calls(const trace::Share& share, const trace::Witness& witness,
                           SpaceIndex first, std::span<Outline> outlines, SpaceCounts& spaces,
                           Unmatched& unmatched) {
  std::vector<SpaceCounts::Reference> references(spaces.limits().size());
  for (const SpaceCounts::Reference& reference : spaces.references(share.team)) {
    if (reference.space >= first) references[reference.space] = reference;
  }
  Numbering numbering(witness, std::move(references), unmatched);
  for (Outline& outline : outlines) numbering.number(outline);
  numbering.set_limits(share.team, spaces);
  return std::move(numbering).outcome();
}

}  // namespace entrain::verify
