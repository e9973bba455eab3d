// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <entrain/align.hpp>

#include "base/big_vector.hpp"

namespace entrain {

/// The arrays of Edges.
struct EdgeList {
  BigVector<std::uint32_t> cause_clock, effect_clock;
  BigVector<std::uint64_t> cause_time, effect_time;
  BigVector<std::int64_t> min_delay;  ///< empty: 0
  BigVector<EdgeKind> kind;
  BigVector<CollectiveInstance> instances;
  BigVector<InstanceMember> members;

  struct End {
    std::uint32_t clock = 0;
    std::uint64_t time = 0;  ///< stamp
  };
  /// Adds an edge, without its delay and kind.
  void add(const End& cause, const End& effect) {
    cause_clock.push_back(cause.clock);
    cause_time.push_back(cause.time);
    effect_clock.push_back(effect.clock);
    effect_time.push_back(effect.time);
  }
  /// Views of the arrays, valid until these change.
  [[nodiscard]] Edges view() const {
    return {.cause_clock = cause_clock,
            .cause_time = cause_time,
            .effect_clock = effect_clock,
            .effect_time = effect_time,
            .min_delay = min_delay,
            .kind = kind,
            .instances = instances,
            .members = members};
  }
};

}  // namespace entrain
