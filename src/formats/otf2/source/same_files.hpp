// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/error.hpp>

#include "base/team.hpp"
#include "formats/otf2/read/archive.hpp"
#include "formats/otf2/source/load.hpp"

namespace entrain::otf2 {

// Processes of a run may see different files under one name: folders that are local to machines,
// copies of different age. Each would then correct a part of another trace. Nothing is checked for
// a process alone, and for archives that the OTF2 library reads.

/// Refuses an archive of whose common files (Archive::common_files()) the processes see different
/// ones. Collective. Errors: ErrorKind::input, naming the file, the same at every process.
Result<void> check_same_common_files(Team& processes, const Archive& archive);

/// Refuses a trace of whose locations' files the owner and the process after it see different ones,
/// by size and age: two looks at each file, however many processes there are. Collective. Errors:
/// as above.
Result<void> check_same_files(Team& processes, const session::LoadedTrace& loaded);

}  // namespace entrain::otf2
