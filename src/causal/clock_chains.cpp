// SPDX-License-Identifier: BSD-3-Clause
#include "causal/clock_chains.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace entrain::causal {

void ClockChains::set(std::size_t knots, Diagonals diagonals) {
  knots_ = knots;
  const std::size_t size = diagonals.middle.size();
  diagonals_ = std::move(diagonals);
  for (std::vector<double>* one : {&diagonals_.middle, &diagonals_.beside1, &diagonals_.beside2})
    one->resize(size + 2, 0.0);
  for (std::vector<double>* one : {&before2_, &before1_, &next1_, &next2_, &inverse_})
    one->resize(size);
  number_.resize(size);
  for (Run& run : runs_) run.is_done = false;
}

void ClockChains::keep(std::span<const std::uint8_t> touched) {
  core_.clear();
  beside_.clear();
  std::swap(runs_, known_);
  runs_.clear();
  next_known_ = 0;
  for (std::size_t begin = 0; begin < touched.size(); begin += knots_) keep(begin, touched);
}

/// The same for the unknowns of one clock.
void ClockChains::keep(std::size_t begin, std::span<const std::uint8_t> touched) {
  const std::size_t end = begin + knots_;
  std::uint8_t beside = 0;  // knots of the core right before
  for (std::size_t i = begin; i < end;) {
    if (touched[i] != 0) {
      number_[i] = static_cast<std::uint32_t>(core_.size());
      core_.push_back(static_cast<std::uint32_t>(i++));
      beside_.push_back(beside);
      beside = static_cast<std::uint8_t>(std::min(beside + 1, 2));
      continue;
    }
    Run& run = runs_.emplace_back();
    run.first = i;
    run.after_core = i != begin;
    const auto of_clock = touched.subspan(0, end);
    i = static_cast<std::size_t>(
        std::find(of_clock.begin() + static_cast<std::ptrdiff_t>(i), of_clock.end(), 1) -
        of_clock.begin());
    close_run(i, i != end);
    beside = 0;
  }
}

/// Looks whether the run was one before.
void ClockChains::close_run(std::size_t end, bool before_core) {
  Run& run = runs_.back();
  run.end = end;
  run.before_core = before_core;
  while (next_known_ < known_.size() && known_[next_known_].first < run.first) ++next_known_;
  if (next_known_ == known_.size()) return;
  const Run& known = known_[next_known_];
  if (known.first == run.first && known.end == end) run = known;
}

double ClockChains::work() const {
  constexpr double k_each = 14;  // of an unknown
  return k_each * static_cast<double>(number_.size() - core_.size());
}

bool ClockChains::eliminate() {
  return std::all_of(runs_.begin(), runs_.end(),
                     [&](Run& run) { return run.is_done || eliminate(run); });
}

bool ClockChains::eliminate(Run& run) {
  const auto& [middle, beside1, beside2] = diagonals_;
  // Of the next knot: its pivot, and its entries with the one after it and the core before the run;
  // and of the one after it.
  double pivot = middle[run.first], pivot_after = middle[run.first + 1];
  double next = beside1[run.first + 1];
  double u = 0, v = 0, u_after = 0, v_after = 0;
  if (run.after_core) {
    u = beside2[run.first];
    v = beside1[run.first];
    v_after = beside2[run.first + 1];
  }
  run.before = {};
  for (std::size_t i = run.first; i < run.end; ++i) {
    if (!(pivot > 0)) return false;
    const double inverse = 1 / pivot, after = beside2[i + 2];
    const double of_next = next * inverse, of_after = after * inverse;
    const double of_u = u * inverse, of_v = v * inverse;
    run.before.first -= u * of_u;
    run.before.second -= v * of_v;
    run.before.between -= u * of_v;
    inverse_[i] = inverse;
    next1_[i] = of_next;
    next2_[i] = of_after;
    before2_[i] = of_u;
    before1_[i] = of_v;
    pivot = pivot_after - next * of_next;
    pivot_after = middle[i + 2] - after * of_after;
    u = std::exchange(u_after, -u * of_after) - u * of_next;
    v = std::exchange(v_after, -v * of_after) - v * of_next;
    next = beside1[i + 2] - next * of_after;
  }
  run.after = {pivot - middle[run.end], pivot_after - middle[run.end + 1],
               next - beside1[run.end + 1]};
  run.first_first = u;
  run.first_second = v;
  run.second_first = u_after;
  run.second_second = v_after;
  return run.is_done = true;
}

std::vector<double> ClockChains::right_of_core(std::vector<double>& v) const {
  v.resize(number_.size() + 2, 0.0);
  for (const Run& run : runs_) {
    double to2 = 0, to1 = 0;
    for (std::size_t i = run.first; i < run.end; ++i) {
      const double x = v[i];
      v[i + 1] -= next1_[i] * x;
      v[i + 2] -= next2_[i] * x;
      to2 += before2_[i] * x;
      to1 += before1_[i] * x;
      v[i] = x * inverse_[i];
    }
    if (!run.after_core) continue;
    v[run.first - 2] -= to2;
    v[run.first - 1] -= to1;
  }
  std::vector<double> core;
  core.reserve(core_.size());
  for (const std::uint32_t i : core_) core.push_back(v[i]);
  return core;
}

void ClockChains::solve_runs(std::span<const double> core, std::vector<double>& v) const {
  for (std::size_t n = 0; n < core.size(); ++n) v[core_[n]] = core[n];
  for (const Run& run : runs_) {
    const double x2 = run.after_core ? v[run.first - 2] : 0;
    const double x1 = run.after_core ? v[run.first - 1] : 0;
    for (std::size_t i = run.end; i-- > run.first;) {
      v[i] -= next1_[i] * v[i + 1] + next2_[i] * v[i + 2] + before2_[i] * x2 + before1_[i] * x1;
    }
  }
  v.resize(number_.size());
}

double ClockChains::log_determinant() const {
  double sum = 0;
  for (const Run& run : runs_) {
    for (std::size_t i = run.first; i < run.end; ++i) sum -= std::log(inverse_[i]);
  }
  return sum;
}

}  // namespace entrain::causal
