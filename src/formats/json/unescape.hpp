// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace entrain::json {

/// Replaces the escapes of a JSON string, given without its quotes. Keeps invalid escapes and
/// single surrogates.
///
/// Example: `a\"b\u00e4` becomes a"bä.
std::string unescaped(std::string_view text);

}  // namespace entrain::json
