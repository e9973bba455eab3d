// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "formats/kineto/arrows.hpp"
#include "formats/kineto/collective_calls.hpp"

/// Verification of pairs from the records alone (McConnell et al. 2011, "Certifying algorithms").
/// How pairs were found plays no part in it: a pair that no record contradicts may still be wrong.
namespace entrain::kineto {

/// Drops the instances that records contradict; returns the number of their calls. An instance
/// holds if
///
/// * its calls exist, are of as many files, and of no other instance;
/// * these have one group and one operation, and no two sizes or roots; if they are no messages, of
///   which each rank counts its own, no two numbers;
/// * the root has a call, and a message goes from its sender to its receiver;
/// * messages, and calls without numbers: by no clock it ends before an earlier one of the same
/// group and first clock.
///
/// O(n log n).
std::uint64_t drop_refuted(std::vector<Instance>& instances, const std::vector<RankFile>& files);

/// Drops the edges of arrows that records contradict; returns their number. An edge holds if both
/// ends are parts of one arrow, which the cause does not end and the effect does not start.
/// O(n log n).
std::uint64_t drop_refuted(std::vector<ArrowEdge>& edges, const std::vector<RankFile>& files);

}  // namespace entrain::kineto
