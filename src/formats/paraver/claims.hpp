// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "formats/paraver/calls.hpp"

/// Verification of instances from the calls alone (McConnell et al. 2011, "Certifying algorithms").
/// How calls were paired plays no part in it.
namespace entrain::paraver {

/// Drops the instances that calls contradict; returns the number of their calls. An instance holds
/// if
///
/// * its calls exist, are of the tasks of its communicator, in order, and of no other instance;
/// * all are of its operation and its communicator, and none ends before it begins;
/// * no task calls it before an earlier one of the same communicator.
///
/// O(n).
std::uint64_t drop_refuted(Instances& instances, const Calls& calls);

}  // namespace entrain::paraver
