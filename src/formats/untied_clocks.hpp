// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "formats/recording.hpp"

namespace entrain::formats {

/// Adds a warning that names the clocks that no edge ties to most others.
void warn_of_untied_clocks(Recording& recording);

}  // namespace entrain::formats
