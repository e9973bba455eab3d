// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/numbered_calls.hpp"

#include <algorithm>
#include <numeric>

namespace entrain::kineto {

void NumberedCalls::add(std::string_view number, NumberedCall call) {
  const auto [place, is_new] = places_.insert(number, static_cast<std::uint32_t>(numbers_.size()));
  if (is_new) numbers_.push_back(number);
  place_.push_back(*place);
  calls_.push_back(call);
}

void NumberedCalls::for_each(const std::function<void(std::span<const NumberedCall>)>& see) const {
  std::vector<std::size_t> next(numbers_.size() + 1, 0);  // first of each number, then its end
  for (const std::uint32_t place : place_) ++next[place + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  const std::vector<std::size_t> first = next;
  std::vector<NumberedCall> sorted(calls_.size());
  for (std::size_t c = 0; c < calls_.size(); ++c) sorted[next[place_[c]]++] = calls_[c];
  std::vector<std::uint32_t> order(numbers_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return numbers_[a] < numbers_[b]; });
  for (const std::uint32_t place : order) {
    see(std::span(sorted).subspan(first[place], first[place + 1] - first[place]));
  }
}

}  // namespace entrain::kineto
