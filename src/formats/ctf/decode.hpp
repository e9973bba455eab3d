// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <span>

#include "formats/ctf/reader.hpp"
#include "formats/ctf/wire.hpp"

namespace entrain::ctf {

/// Reads a trace by libbabeltrace2, and writes records of it. For a process of its own: the library
/// ends a process in which it finds a mistake of its own, and some damaged traces show such.
void decode(const std::filesystem::path& folder, std::span<const Rule> rules, bool all, Wire& wire);

}  // namespace entrain::ctf
