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

/// True for a folder that holds a CTF trace, or has one in a folder inside. Looks no further than
/// the first one; links to folders are not followed.
bool holds_traces(const std::filesystem::path& folder);

/// Reads all CTF traces in these folders, one run. `match`: rules of the user, see CheckOptions.
/// Errors: ErrorKind::usage for rules that are none, and in a build without libbabeltrace2;
/// ErrorKind::input.
Result<std::unique_ptr<formats::Recording>> read(std::span<const std::filesystem::path> folders,
                                                 std::span<const std::string> match);

}  // namespace entrain::ctf
