// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "formats/otf2/read/archive.hpp"

namespace entrain::otf2 {

/// Saves reading the events of an overlay's location again. `skeleton` was scanned from the
/// original. If the overlay's event file *is* the original's (through a symbolic or hard link), and
/// the local definitions differ in ClockOffset records only, the skeleton becomes the overlay's:
/// its clock offsets are replaced, and the result is true. Otherwise it is not touched. Errors:
/// ErrorKind::input for damaged local definitions.
Result<bool> adopt_skeleton(const Archive& original, const Archive& overlay, LocationIndex location,
                            trace::LocationSkeleton& skeleton);

}  // namespace entrain::otf2
