// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace entrain {

/// Position of a location in Definitions::locations (not its OTF2 id, which is sparse).
using LocationIndex = std::uint32_t;
/// Position of a communicator in Definitions::comms.
using CommIndex = std::uint32_t;
/// A node of the skeleton: all communication events of one location that share one stamp. Nodes
/// are numbered location after location, in order of time.
using NodeIndex = std::uint32_t;

/// "No such thing" for every index and 32-bit reference, as OTF2's own undefined value.
inline constexpr std::uint32_t k_none = 0xFFFFFFFFu;

}  // namespace entrain
