// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace entrain::record {

/// Name of the machine that this process runs on.
std::string host_name();

/// A text that is equal in processes of one machine whose system clocks start alike: the machine's
/// boot and the process's time namespace.
std::string system_clock_identity();

/// Nanoseconds since 1970, by the system's clock.
std::uint64_t realtime_ns();

}  // namespace entrain::record
