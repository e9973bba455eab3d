// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include <entrain/error.hpp>

#include "formats/recording.hpp"

/// Traces in the Common Trace Format 1.8, as LTTng, ROS 2 and barectf write them, read by
/// libbabeltrace2.
namespace entrain::ctf {

/// True for a folder that holds a CTF trace, or has one at most six folders deeper. Looks no
/// further than the first one; does not follow links to folders, and skips folders that it may not
/// read.
bool holds_traces(const std::filesystem::path& folder);

/// The folder of the CTF trace that a file belongs to; empty: there is none.
std::filesystem::path trace_around(const std::filesystem::path& file);

/// Reads all CTF traces in these folders, none of which is in another, one run. `match`: rules of
/// the user, see CheckOptions. Errors: ErrorKind::usage for rules that are none, and in a build
/// without libbabeltrace2; ErrorKind::input.
Result<std::unique_ptr<formats::Recording>> read(std::span<const std::filesystem::path> folders,
                                                 std::span<const std::string> match);

}  // namespace entrain::ctf
