// SPDX-License-Identifier: BSD-3-Clause
#include "causal/clock_chains.hpp"

#include <cmath>
#include <utility>

namespace entrain::causal {

void ClockChains::keep(std::size_t knots, std::span<const std::uint8_t> touched) {
  core_.clear();
  beside_.clear();
  runs_.clear();
  number_.assign(touched.size(), 0);
  for (std::size_t begin = 0; begin < touched.size(); begin += knots)
    keep(begin, begin + knots, touched);
}

/// The same for the unknowns of one clock.
void ClockChains::keep(std::size_t begin, std::size_t end, std::span<const std::uint8_t> touched) {
  const auto is_core_before = [&](std::size_t i, std::size_t back) {
    return i >= begin + back && touched[i - back] != 0;
  };
  const auto beside = [&](std::size_t i) {
    const bool one = is_core_before(i, 1), two = one && is_core_before(i, 2);
    if (two || i < begin + (one ? 2 : 1))
      return two ? Beside::two : one ? Beside::one : Beside::nothing;
    if (!runs_.back().after_core) return one ? Beside::one : Beside::nothing;
    return one ? Beside::run_and_one : Beside::run;
  };
  for (std::size_t i = begin; i < end; ++i) {
    if (touched[i] != 0) {
      beside_.push_back(beside(i));
      number_[i] = static_cast<std::uint32_t>(core_.size());
      core_.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    const bool after_core = is_core_before(i, 1);
    if (i == begin || after_core) runs_.push_back({i, i, after_core});
    ++runs_.back().end;
  }
}

double ClockChains::work() const {
  constexpr double k_each = 14;  // of an unknown
  return k_each * static_cast<double>(number_.size() - core_.size());
}

bool ClockChains::eliminate(Diagonals diagonals) {
  diagonals_ = std::move(diagonals);
  const std::size_t size = number_.size();
  // An unknown may touch what would be the next two, with 0.
  for (std::vector<double>* one : {&diagonals_.middle, &diagonals_.beside1, &diagonals_.beside2})
    one->resize(size + 2, 0.0);
  before1_.assign(size + 2, 0.0);
  before2_.assign(size + 2, 0.0);
  for (std::vector<double>* one : {&next1_, &next2_, &inverse_}) one->resize(size);
  for (const Run& run : runs_) {
    if (!eliminate(run)) return false;
  }
  return true;
}

bool ClockChains::eliminate(const Run& run) {
  auto& [middle, beside1, beside2] = diagonals_;
  if (run.after_core) {
    before2_[run.first] = beside2[run.first];
    before1_[run.first] = beside1[run.first];
    before1_[run.first + 1] = beside2[run.first + 1];
  }
  double square2 = 0, square1 = 0, product = 0;  // what goes to the core before the run
  for (std::size_t i = run.first; i < run.end; ++i) {
    if (!(middle[i] > 0)) return false;
    const double inverse = 1 / middle[i];
    const double a = beside1[i + 1], b = beside2[i + 2], u = before2_[i], v = before1_[i];
    const double of_a = a * inverse, of_b = b * inverse;
    middle[i + 1] -= a * of_a;
    beside1[i + 2] -= a * of_b;
    middle[i + 2] -= b * of_b;
    before2_[i + 1] -= u * of_a;
    before2_[i + 2] -= u * of_b;
    before1_[i + 1] -= v * of_a;
    before1_[i + 2] -= v * of_b;
    square2 += u * u * inverse;
    square1 += v * v * inverse;
    product += u * v * inverse;
    inverse_[i] = inverse;
    next1_[i] = of_a;
    next2_[i] = of_b;
    before2_[i] = u * inverse;
    before1_[i] = v * inverse;
  }
  if (!run.after_core) return true;
  middle[run.first - 2] -= square2;
  middle[run.first - 1] -= square1;
  beside1[run.first - 1] -= product;
  return true;
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
