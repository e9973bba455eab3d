// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "trace/partners.hpp"
#include "verify/edges.hpp"

namespace entrain::verify {

/// A call of an operation in which each process chooses its targets (Alltoallv, Alltoallw,
/// neighbourhood collectives).
struct NamedCall {
  std::uint32_t group = 0;  ///< 1 only in the second group of an inter-communicator
  std::uint32_t rank = 0;
  const trace::RankSet* to = nullptr;    ///< ranks it sent to; null: unknown
  const trace::RankSet* from = nullptr;  ///< ranks it received from; null if `to` is
  bool sends_to_all = false;             ///< assumption if `to` is null
  bool receives_from_all = false;
  Moment begin, end;
};

/// Calls `use` with edges from the begins of the calls of one instance to the ends, grouped in any
/// number of instances with this order: an edge leads from a to b if a names b as a target and b
/// names a as a source. `inter`: on an inter-communicator, where ranks are those of the
/// other group. O(partners log ranges), O(processes log ranges) if all exchange data with all.
void for_each_named_instance(std::span<const NamedCall> calls, bool inter, const EdgeOrder& order,
                             const std::function<void(Instance&)>& use);

/// Number of pairs of calls with named partners that contradict each other: only one of them says
/// that a sent to b.
std::int64_t contradictions(std::span<const NamedCall> calls, bool inter);

}  // namespace entrain::verify
