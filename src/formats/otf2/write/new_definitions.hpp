// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "formats/otf2/format/definition_file.hpp"
#include "trace/definitions.hpp"

namespace entrain::otf2 {

/// The global definition records of a new archive: clock, system tree, processes, locations,
/// regions, and intra-communicators with their groups. The order of the locations is
/// that of their MPI ranks. Ids are positions, except that locations keep theirs. Other definitions
/// (RMA windows, groups that records name, inter-communicators) are left out.
DefinitionFile new_global_definitions(const trace::Definitions& definitions);

}  // namespace entrain::otf2
