// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "otf2/format/records.hpp"
#include "trace/definitions.hpp"

namespace entrain::otf2 {

/// The global definition records of a new archive: clock, system tree, processes, locations,
/// regions, and intra-communicators with their groups. Locations are ranks of MPI in their order;
/// ids are positions but for those of locations, which are taken as they are. Other kinds of
/// definitions (windows, groups that records name, inter-communicators) are left out.
DefinitionFile new_global_definitions(const trace::Definitions& definitions);

}  // namespace entrain::otf2
