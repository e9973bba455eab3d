// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "formats/perfetto/state.hpp"

namespace entrain::perfetto {

/// Bytes of an event's arguments: many may refer to one long interned text.
inline constexpr std::size_t k_most_arguments = std::size_t{1} << 26;
/// So many annotations have longer arguments, as each takes 8 bytes of them at least.
inline constexpr std::size_t k_most_annotations = k_most_arguments / 8 + 1;

/// Adds a debug annotation to the JSON object `to`, which begins with its bracket and has no end
/// yet. Throws protozero::exception.
void add_annotation(std::string_view annotation, const State& state, std::string& to);

/// Adds a string to the JSON object `to`.
void add_text(std::string_view name, std::string_view value, std::string& to);

}  // namespace entrain::perfetto
