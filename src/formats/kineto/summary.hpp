// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "formats/kineto/collective_calls.hpp"
#include "formats/parts/fields.hpp"

/// Files of a training run as compact bytes: what read_file() leaves of each.
namespace entrain::kineto {

/// Writes files with their calls, arrows and edges. A survey of a Perfetto trace is left out.
void pack(parts::FieldWriter& fields, std::vector<RankFile>& files);

/// Appends the files that pack() has written; each Perfetto trace has an empty survey. False if
/// they are damaged, or if a number in them is out of range.
[[nodiscard]] bool unpack(parts::FieldReader& fields, std::vector<RankFile>& files);

}  // namespace entrain::kineto
