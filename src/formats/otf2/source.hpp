// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>

#include "formats/otf2/write_archive.hpp"
#include "formats/source.hpp"

namespace entrain::otf2 {

/// The OTF2 archives of one run as a source. `paths`: anchor files, and folders of anchors; they
/// are opened by load() and what needs it. Several processes may load, write and read back
/// together.
std::unique_ptr<formats::Source> source_of(std::vector<std::filesystem::path> paths);

/// An archive as written, with the maps that it was written with. An overlay is read beside its
/// original, of which it borrows the skeletons; a rewritten archive is compared with its original
/// and the maps, and only if these do not say all about it, or anew, is it scanned.
std::unique_ptr<formats::Staged> make_staged(StagedArchive staged, std::vector<ClockMap> maps,
                                             WriteMode mode);

/// The times of an archive. `raw`: its ClockOffset records are ignored. Communication counts within
/// the span of clock sessions: between the first and the last ClockOffset record of a location, or
/// in the span that a correction noted. Errors: those of load().
Result<std::unique_ptr<formats::TimedEvents>> timed_events(
    std::span<const std::filesystem::path> paths, bool raw, unsigned threads, Progress* progress);

/// The anchor of the archive that a path is only a part of, and that is there; else "".
std::filesystem::path anchor_around(const std::filesystem::path& path);
/// Adds all files of the archive with this anchor to the inputs of a run, those of links, too.
void add_inputs(Inputs& inputs, const std::filesystem::path& anchor);

}  // namespace entrain::otf2
