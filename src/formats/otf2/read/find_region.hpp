// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/otf2/read/event_file.hpp"
#include "trace/trace.hpp"

namespace entrain::otf2 {

/// Position in Definitions::regions of the innermost region that is open at the first event with
/// stamp `time`, or k_none. If that event is an Enter, its own region counts as open. Reads the
/// chunk with that event, found by bisection, and earlier ones as far as calls began there.
Result<std::uint32_t> find_region(const EventFile& file, std::uint64_t time);

/// See trace::EventReader::regions_around(). Ignores records before the chunk that holds the event,
/// or the one before it.
Result<std::vector<trace::RegionRecord>> find_regions_around(const EventFile& file,
                                                             std::uint64_t time, std::size_t most);

}  // namespace entrain::otf2
