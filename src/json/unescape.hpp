// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace entrain::json {

/// What a string of a JSON text says, from what stands between its quotes. What is no escape, and
/// halves of characters, stay as they stand.
///
/// Example: `a\"b\u00e4` says a"bä.
std::string unescaped(std::string_view text);

}  // namespace entrain::json
