// SPDX-License-Identifier: BSD-3-Clause
#include "fit/active_set_selector.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/executor.hpp"

namespace entrain::fit {

namespace {

/// Evaluation of all constraints; active_set_selector_test.cpp holds that none is missed.
struct SelectorThresholds {
  static constexpr std::size_t block = std::size_t{1} << 15;  ///< constraints per task of a thread
  /// Rounding of Row::excess(), as a share of the largest unknown and of the bound.
  static constexpr double rounding = 1e-6;
  /// A cache of more constraints is thinned out,
  static constexpr std::size_t many_near = 1024;
  static constexpr double too_wide = 4;  ///< and only if its margin is this multiple of the need
};
constexpr double k_nothing = -std::numeric_limits<double>::infinity();

}  // namespace

ConstraintTable::ConstraintTable(const CausalProblem& problem)
    : problem_(problem), places_(problem), rows_(problem.constraints.size()) {
  std::vector<double> largest(rows_.size() / SelectorThresholds::block + 1, 2.0);
  for_each_in_parallel(problem.threads, largest.size(), [&](std::size_t b) {
    for (std::size_t i = b * SelectorThresholds::block;
         i < std::min((b + 1) * SelectorThresholds::block, rows_.size()); ++i) {
      const FitConstraint exact = constraint_at(i);
      rows_[i] = {exact.to, exact.from, static_cast<float>(exact.to_share),
                  static_cast<float>(exact.from_share), static_cast<float>(exact.bound)};
      largest[b] = std::max(largest[b], exact.sensitivity());
    }
  });
  sensitivity_ = *std::max_element(largest.begin(), largest.end());
}

FitConstraint ConstraintTable::constraint_at(std::size_t number) const {
  const ClockConstraint& constraint = problem_.constraints[number];
  const KnotPlace to = places_(constraint.to, constraint.to_time);
  const KnotPlace from = places_(constraint.from, constraint.from_time);
  return {.to = to.at,
          .from = from.at,
          .to_share = to.share,
          .from_share = from.share,
          .bound = static_cast<double>(constraint.slack) - problem_.latency};
}

void ActiveSetSelector::begin() {
  is_selected_.assign(table_.rows().size(), 0);
  seen_.clear();
}

/// Finds all constraints that `v` exceeds, or misses by less than `margin`, and some that it misses
/// by little more.
void ActiveSetSelector::look(std::span<const double> v, double margin) {
  single_.assign(v.begin(), v.end());
  double move = 0;
  for (std::size_t i = 0; i < seen_.size(); ++i) move = std::max(move, std::abs(v[i] - seen_[i]));
  const double needed = table_.sensitivity() * move + margin;
  if (seen_.empty() || needed >= margin_) {
    margin_ = 2 * needed;
    seen_.assign(v.begin(), v.end());
    look_at_all(margin_);
  } else if (near_.size() > SelectorThresholds::many_near &&
             margin_ > SelectorThresholds::too_wide * needed) {
    margin_ = 2 * needed;
    seen_.assign(v.begin(), v.end());
    const float least = least_over(margin_);
    std::erase_if(near_,
                  [&](std::uint32_t n) { return !(table_.rows()[n].excess(single_) > least); });
  }
  const float least = least_over(margin);
  found_.clear();
  for (const std::uint32_t number : near_) {
    const float over = table_.rows()[number].excess(single_);
    if (over > least) found_.push_back({over, number});
  }
}

/// Least Row::excess() of a constraint that may be missed by less than `margin`, given the
/// rounding.
float ActiveSetSelector::least_over(double margin) const {
  float largest = 0;
  for (const float x : single_) largest = std::max(largest, std::abs(x));
  return static_cast<float>(-margin -
                            SelectorThresholds::rounding *
                                (table_.sensitivity() * static_cast<double>(largest) + margin));
}

void ActiveSetSelector::look_at_all(double margin) {
  const std::span<const ConstraintTable::Row> rows = table_.rows();
  const float least = least_over(margin);
  std::vector<std::vector<std::uint32_t>> found(rows.size() / SelectorThresholds::block + 1);
  for_each_in_parallel(table_.problem().threads, found.size(), [&](std::size_t b) {
    for (std::size_t i = b * SelectorThresholds::block;
         i < std::min((b + 1) * SelectorThresholds::block, rows.size()); ++i) {
      if (rows[i].excess(single_) > least) found[b].push_back(static_cast<std::uint32_t>(i));
    }
  });
  near_.clear();
  for (const auto& of_block : found) near_.insert(near_.end(), of_block.begin(), of_block.end());
}

std::vector<std::uint32_t> ActiveSetSelector::select(std::span<const double> v, double margin) {
  look(v, margin);
  std::vector<Slot> above(v.size(), {k_nothing, 0}), below = above;  // tightest per piece
  for (const Slot& slot : found_) {
    if (is_selected_[slot.number] != 0) continue;
    // The order of constraints that are not exceeded may depend on rounding.
    const double over = margin > 0 ? slot.over : table_.constraint_at(slot.number).excess(v);
    if (!(over > -margin)) continue;
    const ConstraintTable::Row& row = table_.rows()[slot.number];
    for (Slot* const best : {&above[row.to], &below[row.from]}) {
      if (over > best->over) *best = {over, slot.number};
    }
  }
  std::vector<std::uint32_t> selected;
  for (const std::vector<Slot>* const best : {&above, &below}) {
    for (const auto& [over, number] : *best) {
      if (over == k_nothing || is_selected_[number] != 0) continue;
      selected.push_back(number);
      is_selected_[number] = 1;
    }
  }
  std::sort(selected.begin(), selected.end());
  return selected;
}

double ActiveSetSelector::worst(std::span<const double> v) {
  look(v, 0);
  double worst = 0;
  for (const Slot& slot : found_)
    worst = std::max(worst, table_.constraint_at(slot.number).excess(v));
  return worst;
}

}  // namespace entrain::fit
