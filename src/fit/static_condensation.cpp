// SPDX-License-Identifier: BSD-3-Clause
#include "fit/static_condensation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace entrain::fit {

void StaticCondensation::set(std::size_t knots, Diagonals diagonals) {
  knots_ = knots;
  const std::size_t size = diagonals.middle.size();
  diagonals_ = std::move(diagonals);
  for (std::vector<double>* one : {&diagonals_.middle, &diagonals_.sub1, &diagonals_.sub2})
    one->resize(size + 2, 0.0);
  for (std::vector<double>* one : {&before2_, &before1_, &next1_, &next2_, &inverse_})
    one->resize(size);
  number_.resize(size);
  for (Chain& chain : chains_) chain.is_done = false;
}

void StaticCondensation::keep(std::span<const std::uint8_t> touched) {
  interface_.clear();
  neighbours_before_.clear();
  std::swap(chains_, known_);
  chains_.clear();
  next_known_ = 0;
  for (std::size_t begin = 0; begin < touched.size(); begin += knots_) keep(begin, touched);
}

void StaticCondensation::keep(std::size_t begin, std::span<const std::uint8_t> touched) {
  const std::size_t end = begin + knots_;
  std::uint8_t neighbours = 0;  // interface knots right before
  for (std::size_t i = begin; i < end;) {
    if (touched[i] != 0) {
      number_[i] = static_cast<std::uint32_t>(interface_.size());
      interface_.push_back(static_cast<std::uint32_t>(i++));
      neighbours_before_.push_back(neighbours);
      neighbours = static_cast<std::uint8_t>(std::min(neighbours + 1, 2));
      continue;
    }
    Chain& chain = chains_.emplace_back();
    chain.first = i;
    chain.after_interface = i != begin;
    const auto of_clock = touched.subspan(0, end);
    i = static_cast<std::size_t>(
        std::find(of_clock.begin() + static_cast<std::ptrdiff_t>(i), of_clock.end(), 1) -
        of_clock.begin());
    close_chain(i, i != end);
    neighbours = 0;
  }
}

/// Reuses the result of the chain if it existed before.
void StaticCondensation::close_chain(std::size_t end, bool before_interface) {
  Chain& chain = chains_.back();
  chain.end = end;
  chain.before_interface = before_interface;
  while (next_known_ < known_.size() && known_[next_known_].first < chain.first) ++next_known_;
  if (next_known_ == known_.size()) return;
  const Chain& known = known_[next_known_];
  if (known.first == chain.first && known.end == end) chain = known;
}

double StaticCondensation::work() const {
  constexpr double k_each = 14;  // multiplications per unknown
  return k_each * static_cast<double>(number_.size() - interface_.size());
}

bool StaticCondensation::eliminate() {
  return std::all_of(chains_.begin(), chains_.end(),
                     [&](Chain& chain) { return chain.is_done || eliminate(chain); });
}

bool StaticCondensation::eliminate(Chain& chain) {
  const auto& [middle, sub1, sub2] = diagonals_;
  // Pivot of the next knot, its entry with the one after it, and its entries u, v with the two
  // interface knots before the chain; the same of the knot after it.
  double pivot = middle[chain.first], pivot_after = middle[chain.first + 1];
  double next = sub1[chain.first + 1];
  double u = 0, v = 0, u_after = 0, v_after = 0;
  if (chain.after_interface) {
    u = sub2[chain.first];
    v = sub1[chain.first];
    v_after = sub2[chain.first + 1];
  }
  chain.before = {};
  for (std::size_t i = chain.first; i < chain.end; ++i) {
    if (!(pivot > 0)) return false;
    const double inverse = 1 / pivot, after = sub2[i + 2];
    const double of_next = next * inverse, of_after = after * inverse;
    const double of_u = u * inverse, of_v = v * inverse;
    chain.before.first -= u * of_u;
    chain.before.second -= v * of_v;
    chain.before.between -= u * of_v;
    inverse_[i] = inverse;
    next1_[i] = of_next;
    next2_[i] = of_after;
    before2_[i] = of_u;
    before1_[i] = of_v;
    pivot = pivot_after - next * of_next;
    pivot_after = middle[i + 2] - after * of_after;
    u = std::exchange(u_after, -u * of_after) - u * of_next;
    v = std::exchange(v_after, -v * of_after) - v * of_next;
    next = sub1[i + 2] - next * of_after;
  }
  chain.after = {pivot - middle[chain.end], pivot_after - middle[chain.end + 1],
                 next - sub1[chain.end + 1]};
  chain.first_first = u;
  chain.first_second = v;
  chain.second_first = u_after;
  chain.second_second = v_after;
  return chain.is_done = true;
}

std::vector<double> StaticCondensation::condense(std::vector<double>& v) const {
  v.resize(number_.size() + 2, 0.0);
  for (const Chain& chain : chains_) {
    double to2 = 0, to1 = 0;
    for (std::size_t i = chain.first; i < chain.end; ++i) {
      const double x = v[i];
      v[i + 1] -= next1_[i] * x;
      v[i + 2] -= next2_[i] * x;
      to2 += before2_[i] * x;
      to1 += before1_[i] * x;
      v[i] = x * inverse_[i];
    }
    if (!chain.after_interface) continue;
    v[chain.first - 2] -= to2;
    v[chain.first - 1] -= to1;
  }
  std::vector<double> interface;
  interface.reserve(interface_.size());
  for (const std::uint32_t i : interface_) interface.push_back(v[i]);
  return interface;
}

void StaticCondensation::expand(std::span<const double> interface, std::vector<double>& v) const {
  for (std::size_t n = 0; n < interface.size(); ++n) v[interface_[n]] = interface[n];
  for (const Chain& chain : chains_) {
    const double x2 = chain.after_interface ? v[chain.first - 2] : 0;
    const double x1 = chain.after_interface ? v[chain.first - 1] : 0;
    for (std::size_t i = chain.end; i-- > chain.first;) {
      v[i] -= next1_[i] * v[i + 1] + next2_[i] * v[i + 2] + before2_[i] * x2 + before1_[i] * x1;
    }
  }
  v.resize(number_.size());
}

double StaticCondensation::log_determinant() const {
  double sum = 0;
  for (const Chain& chain : chains_) {
    for (std::size_t i = chain.first; i < chain.end; ++i) sum -= std::log(inverse_[i]);
  }
  return sum;
}

}  // namespace entrain::fit
