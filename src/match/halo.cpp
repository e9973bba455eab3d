// SPDX-License-Identifier: BSD-3-Clause
#include "match/halo.hpp"

#include <algorithm>

namespace entrain::match {

namespace {

using Lists = std::vector<std::vector<NodeIndex>>;

/// Sends value(n) for every n of from[r] to member r, which calls take(n, value) for its to[r].
template <class T, class Value, class Take>
void carry(Team& team, const Lists& from, const Lists& to, Value value, Take take) {
  if (team.size() == 1) return;
  std::vector<std::vector<T>> parcels(team.size());
  for (unsigned r = 0; r < team.size(); ++r) {
    parcels[r].reserve(from[r].size());
    for (const NodeIndex n : from[r]) parcels[r].push_back(value(n));
  }
  parcels = exchange(team, std::move(parcels));
  for (unsigned r = 0; r < team.size(); ++r) {
    for (std::size_t i = 0; i < parcels[r].size(); ++i) take(to[r][i], parcels[r][i]);
  }
}

}  // namespace

void HaloExchange::publish(std::span<std::int64_t> values) {
  carry<std::int64_t>(
      team_, graph_.halo.shown_to, graph_.halo.ghosts_of, [&](NodeIndex n) { return values[n]; },
      [&](NodeIndex n, std::int64_t value) { values[n] = value; });
}

void HaloExchange::collect_smallest(std::span<std::int64_t> values) {
  carry<std::int64_t>(
      team_, graph_.halo.ghosts_of, graph_.halo.shown_to, [&](NodeIndex n) { return values[n]; },
      [&](NodeIndex n, std::int64_t value) { values[n] = std::min(values[n], value); });
}

void HaloExchange::share_marks(std::vector<bool>& marks) {
  const auto value = [&](NodeIndex n) { return std::uint8_t{marks[n]}; };
  const auto add = [&](NodeIndex n, std::uint8_t mark) {
    if (mark != 0) marks[n] = true;
  };
  carry<std::uint8_t>(team_, graph_.halo.ghosts_of, graph_.halo.shown_to, value, add);
  carry<std::uint8_t>(team_, graph_.halo.shown_to, graph_.halo.ghosts_of, value, add);
}

}  // namespace entrain::match
