// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "otf2/read/archive.hpp"

namespace entrain::otf2 {

/// The events of a location of an overlay are those of the original: if its event file *is* the
/// original's (through a symbolic or hard link) and its local definitions differ in nothing but
/// ClockOffset records, `skeleton`, scanned from the original, becomes that of the overlay without
/// reading the events again, and the result is true. Otherwise it is not touched. Errors:
/// ErrorKind::input for damaged local definitions.
Result<bool> adopt_skeleton(const Archive& original, const Archive& overlay, LocationIndex location,
                            trace::LocationSkeleton& skeleton);

}  // namespace entrain::otf2
