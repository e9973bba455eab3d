// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace entrain::json {

/// Replaces the escapes of a JSON string, given without its quotes. Keeps a text with an invalid
/// one, or with a single surrogate, as it is.
///
/// Example: `a\"b\u00e4` becomes a"bä.
std::string unescaped(std::string_view text);

}  // namespace entrain::json
