// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "trace/partners.hpp"
#include "verify/edges.hpp"

namespace entrain::verify {

/// A call of an operation in which each process decides whom it sends data to (Alltoallv, Alltoallw
/// and those among neighbours).
struct NamedCall {
  std::uint32_t group = 0;  ///< 1 only in the second group of an inter-communicator
  std::uint32_t rank = 0;
  const trace::RankSet* to = nullptr;    ///< whom it says to have sent to; null: it does not say
  const trace::RankSet* from = nullptr;  ///< null if `to` is
  bool sends_to_all = false;             ///< of a call that does not say
  bool receives_from_all = false;
  Moment begin, end;
};

/// Calls `use` with edges from the begins of the calls of one instance to the ends, grouped in any
/// number of instances with this order: an edge leads from a to b if a says that it sent to b and b
/// says that it received from a. `inter`: on an inter-communicator, where ranks are those of the
/// other group. O(partners log ranges), O(processes log ranges) if all exchange data with all.
void for_each_named_instance(std::span<const NamedCall> calls, bool inter, const EdgeOrder& order,
                             const std::function<void(Instance&)>& use);

/// Number of pairs of two calls that both say, where one says that a sent to b and the other one
/// that b received nothing from a, or the other way round.
std::int64_t contradictions(std::span<const NamedCall> calls, bool inter);

}  // namespace entrain::verify
