// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "match/extremes.hpp"
#include "match/graph.hpp"

namespace entrain::match {

/// Calls use(begin, end) for the ends of an exchange in their order: with the begin of another
/// location that allows the end last, by the `times` of nodes. Ends that wait for none are skipped.
/// Linear in participants.
///
/// Example: a barrier begins at 100, 300 and 200 in locations 0, 1 and 2. The ends of 0 and 2 wait
/// for location 1, that of 1 for location 2.
template <class Use>
void for_deciding_pairs(const Graph& graph, const Exchange& exchange,
                        std::span<const std::int64_t> times, Use use) {
  const auto time_of = [&](const Participant* begin) {
    return begin == nullptr ? k_no_demand : times[begin->node];
  };
  const auto sends = graph.sends(exchange);
  const Participant* latest = nullptr;
  const Participant* of_another = nullptr;  // the latest one of any other location
  std::size_t added = 0;
  for (const Participant& end : graph.receives(exchange)) {
    for (; added < sends.size() && (!exchange.ordered || sends[added].order < end.order); ++added) {
      const Participant& begin = sends[added];
      const bool is_same = latest != nullptr && latest->location == begin.location;
      if (time_of(&begin) > time_of(latest)) {
        if (!is_same) of_another = latest;
        latest = &begin;
      } else if (!is_same && time_of(&begin) > time_of(of_another)) {
        of_another = &begin;
      }
    }
    const bool is_own = latest != nullptr && latest->location == end.location;
    const Participant* const begin = is_own ? of_another : latest;
    if (begin != nullptr) use(*begin, end);
  }
}

}  // namespace entrain::match
