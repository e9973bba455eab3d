// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/info.hpp>

#include "formats/otf2/source/load.hpp"

namespace entrain::otf2 {

/// The contents of an archive that was loaded as a whole, without the size of its event files.
ArchiveInfo describe(const session::LoadedTrace& loaded);

}  // namespace entrain::otf2
