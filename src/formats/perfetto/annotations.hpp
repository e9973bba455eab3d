// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "formats/perfetto/state.hpp"

namespace entrain::perfetto {

/// Adds a debug annotation to the JSON object `to`, which begins with its bracket and has no end
/// yet. Throws protozero::exception.
void add_annotation(std::string_view annotation, const State& state, std::string& to);

/// Adds a string to the JSON object `to`.
void add_text(std::string_view name, std::string_view value, std::string& to);

}  // namespace entrain::perfetto
