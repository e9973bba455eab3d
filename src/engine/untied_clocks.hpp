// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "formats/recording.hpp"

namespace entrain::engine {

/// Adds a warning to a recording that names the clocks of which edges say nothing in the largest
/// group of clocks that they tie: no verdict is about these. None where there are no edges at all,
/// which the verdict tells.
///
/// Example: edges tie the ranks 0, 1 and 3, and rank 2 has no call in common with them. The warning
/// names clock 2.
void warn_of_untied_clocks(formats::Recording& recording);

}  // namespace entrain::engine
