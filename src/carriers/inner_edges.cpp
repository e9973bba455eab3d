// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/inner_edges.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

namespace entrain::carriers {

double spread(std::vector<std::int64_t> values) {
  if (values.empty()) return static_cast<double>(k_any);
  const auto fourth = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
  std::ranges::nth_element(values, fourth);
  return static_cast<double>(*fourth) + 1;
}

double likely_share(double below, double above) {
  return below * below / (below * below + above * above);
}

EdgeList Inner::list() const {
  EdgeList list;
  for (const Tie& tie : ties) {
    const EdgeList::End host{0, static_cast<std::uint64_t>(tie.host)};
    const EdgeList::End own{1, static_cast<std::uint64_t>(tie.own)};
    tie.is_upper ? list.add(own, host) : list.add(host, own);
  }
  return list;
}

std::int64_t Inner::likely() const {
  const std::int64_t low = least(), high = most();
  if (upper.empty()) return low;
  if (lower.empty()) return high;
  std::vector<std::int64_t> below, above;  // but for the limits themselves
  for (const Limit& one : lower) below.push_back(low - one.ticks);
  for (const Limit& one : upper) above.push_back(one.ticks - high);
  const auto leave_one_out = [](std::vector<std::int64_t>& values) {
    values.erase(std::ranges::find(values, 0));
  };
  leave_one_out(below), leave_one_out(above);
  const double share = likely_share(spread(std::move(below)), spread(std::move(above)));
  return low + std::llround(share * static_cast<double>(high - low));
}

}  // namespace entrain::carriers
