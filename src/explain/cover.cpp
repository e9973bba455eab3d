// SPDX-License-Identifier: BSD-3-Clause
#include "explain/cover.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace entrain::explain {

namespace {

constexpr double k_rounding = 1e-9;  ///< rounding of sums of prices, bits

}  // namespace

Cover::Cover(std::span<const Candidate> candidates, std::vector<std::int64_t> needs,
             std::size_t most)
    : candidates_(candidates),
      unpaid_(candidates.size()),
      breakers_(needs.size()),
      needs_(std::move(needs)),
      is_used_(candidates.size()),
      most_(most) {
  std::vector<double> gains;  // parts of needs, per bit
  for (const Candidate& candidate : candidates) {
    double parts = 0;
    for (const auto& [cycle, lost] : candidate.parts) {
      parts += static_cast<double>(lost) / static_cast<double>(needs_[cycle]);
    }
    gains.push_back(parts / candidate.price);
  }
  for (std::uint32_t c = 0; c < candidates.size(); ++c) {
    for (const Candidate::Part& part : candidates[c].parts) {
      breakers_[part.cycle].push_back({c, part.lost});
    }
  }
  for (std::vector<Breaker>& own : breakers_) {
    std::stable_sort(own.begin(), own.end(), [&](const Breaker& a, const Breaker& b) {
      return gains[a.candidate] > gains[b.candidate];
    });
  }
}

std::vector<std::uint32_t> Cover::run() {
  std::vector<std::int64_t> most(needs_.size(), 0);
  for (const Candidate& candidate : candidates_) {
    for (const Candidate::Part& part : candidate.parts) {
      most[part.cycle] = std::min(most[part.cycle] + part.lost, needs_[part.cycle]);
    }
  }
  if (!std::ranges::equal(needs_, most, std::ranges::less_equal())) return {};
  choose_greedily();
  branch(0);
  std::sort(best_.begin(), best_.end());
  return std::move(best_);
}

void Cover::choose(std::uint32_t c, std::int64_t sign) {
  price_ += static_cast<double>(sign) * candidates_[c].price;
  looked_at_ += candidates_[c].parts.size();
  for (const Candidate::Part& part : candidates_[c].parts) needs_[part.cycle] -= sign * part.lost;
}

/// Breaks each cycle in turn by what breaks most of all that is left for its price, and takes
/// back what turns out to be needless. Covers of the same price replace this one.
void Cover::choose_greedily() {
  std::vector<std::uint32_t> chosen;
  std::vector<char> is_chosen(candidates_.size());
  const auto gain = [&](std::uint32_t c) {
    double parts = 0;
    for (const auto& [cycle, lost] : candidates_[c].parts) {
      if (needs_[cycle] > 0) parts += share(lost, cycle);
    }
    looked_at_ += candidates_[c].parts.size();
    return parts / candidates_[c].price;
  };
  for (std::size_t cycle = 0; cycle < needs_.size();) {
    if (needs_[cycle] <= 0) {
      ++cycle;
      continue;
    }
    std::uint32_t best = 0;
    double most = 0;
    for (const auto& [c, lost] : breakers_[cycle]) {
      const double own = is_chosen[c] ? 0 : gain(c);
      if (own > most) most = own, best = c;
    }
    is_chosen[best] = true;
    chosen.push_back(best);
    choose(best, 1);
  }
  for (const std::uint32_t c : chosen) {
    const bool is_needless = std::ranges::all_of(candidates_[c].parts, [&](const auto& part) {
      return needs_[part.cycle] + part.lost <= 0;
    });
    if (is_needless) {
      choose(c, -1);
    } else {
      best_.push_back(c);
    }
  }
  least_ = price_ + 2 * k_rounding;
  for (const std::uint32_t c : best_) choose(c, -1);
  price_ = 0;
}

void Cover::branch(std::size_t from) {
  if (price_ >= least_ - k_rounding || looked_at_ > most_) return;
  while (from < needs_.size() && needs_[from] <= 0) ++from;
  if (from == needs_.size()) {
    best_ = chosen_;
    least_ = price_;
    return;
  }
  if (price_ + least_of_rest(from) >= least_ - k_rounding) return;
  const std::size_t before = used_.size();
  for (const auto& [c, lost] : breakers_[from]) {
    if (is_used_[c]) continue;
    is_used_[c] = true;
    used_.push_back(c);
    chosen_.push_back(c);
    choose(c, 1);
    branch(from);
    choose(c, -1);
    chosen_.pop_back();
  }
  for (; used_.size() > before; used_.pop_back()) is_used_[used_.back()] = false;
}

/// What breaks the cycles that are left, from one on, costs no less: the value of a dual solution
/// of the linear relaxation. Each cycle in turn is paid as much as no candidate that breaks it is
/// overpaid by (dual ascent).
double Cover::least_of_rest(std::size_t from) {
  for (std::uint32_t c = 0; c < candidates_.size(); ++c) unpaid_[c] = candidates_[c].price;
  double paid = 0;
  for (std::size_t cycle = from; cycle < needs_.size(); ++cycle) {
    if (needs_[cycle] <= 0) continue;
    double most = std::numeric_limits<double>::max();
    for (const Breaker& breaker : breakers_[cycle]) {
      if (is_used_[breaker.candidate]) continue;
      most = std::min(most, unpaid_[breaker.candidate] / share(breaker.lost, cycle));
    }
    if (most == std::numeric_limits<double>::max()) return most;
    for (const Breaker& breaker : breakers_[cycle]) {
      unpaid_[breaker.candidate] -= most * share(breaker.lost, cycle);
    }
    looked_at_ += breakers_[cycle].size();
    paid += most;
    if (price_ + paid >= least_) break;
  }
  return paid;
}
/// The part of what a cycle still needs that a candidate loses.
double Cover::share(std::int64_t lost, std::size_t cycle) const {
  return std::min(static_cast<double>(lost) / static_cast<double>(needs_[cycle]), 1.0);
}

}  // namespace entrain::explain
