// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/options.hpp>

#include "formats/otf2/write/write_archive.hpp"
#include "formats/source.hpp"

namespace entrain::otf2 {

/// An archive as written, with the maps that it was written with. An overlay is read beside its
/// original, of which it borrows the skeletons; a rewritten archive is compared with its original
/// and the maps, and only if these do not say all about it, or anew, is it scanned.
std::unique_ptr<formats::Staged> make_staged(StagedArchive staged, std::vector<ClockMap> maps,
                                             WriteMode mode);

}  // namespace entrain::otf2
