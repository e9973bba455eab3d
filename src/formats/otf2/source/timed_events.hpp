// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>

#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "formats/source.hpp"

namespace entrain::otf2 {

/// The times of an archive. `raw`: its ClockOffset records are ignored. Communication counts within
/// the span of clock sessions: between the first and the last ClockOffset record of a location, or
/// in the span that a correction noted. Errors: those of load().
Result<std::unique_ptr<formats::TimedEvents>> timed_events(const std::filesystem::path& path,
                                                           bool raw, unsigned threads,
                                                           Progress* progress);

}  // namespace entrain::otf2
