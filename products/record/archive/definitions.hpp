// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <otf2/otf2.h>

#include "record/archive/merged.hpp"

namespace entrain::record {

/// Writes the global definitions of an archive; `truth`: of the one with true times.
void write_global(OTF2_GlobalDefWriter* writer, const Merged& merged, bool truth);

}  // namespace entrain::record
