// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "match/extremes.hpp"
#include "match/graph.hpp"

namespace entrain::match {

/// The latest begin, and the latest one of any other location.
class LatestBegins {
 public:
  void add(const Participant& begin, std::int64_t time) {
    if (time == k_no_demand) return;
    const bool is_own = first_.who != nullptr && first_.who->location == begin.location;
    if (first_.who == nullptr || time > first_.time) {
      if (!is_own) second_ = first_;
      first_ = {&begin, time};
    } else if (!is_own && (second_.who == nullptr || time > second_.time)) {
      second_ = {&begin, time};
    }
  }
  /// The latest begin of another location; null if there is none.
  [[nodiscard]] const Participant* without(LocationIndex location) const {
    return first_.who != nullptr && first_.who->location == location ? second_.who : first_.who;
  }

 private:
  struct Begin {
    const Participant* who = nullptr;
    std::int64_t time = 0;
  };
  Begin first_, second_;
};

/// Calls use(begin, end) for the ends of an exchange in their order: with the begin of another
/// location that allows the end last, by the `times` of nodes. Ends that wait for none are skipped.
/// Linear in participants.
///
/// Example: a barrier begins at 100, 300 and 200 in locations 0, 1 and 2. The ends of 0 and 2 wait
/// for location 1, that of 1 for location 2.
template <class Use>
void for_deciding_pairs(const Graph& graph, const Exchange& exchange,
                        std::span<const std::int64_t> times, Use use) {
  const auto sends = graph.sends(exchange);
  LatestBegins latest;
  std::size_t added = 0;
  for (const Participant& end : graph.receives(exchange)) {
    for (; added < sends.size() && (!exchange.ordered || sends[added].order < end.order); ++added) {
      latest.add(sends[added], times[sends[added].node]);
    }
    const Participant* const begin = latest.without(end.location);
    if (begin != nullptr) use(*begin, end);
  }
}

}  // namespace entrain::match
