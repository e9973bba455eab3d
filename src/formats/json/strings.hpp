// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace entrain::json {

/// Replaces the escapes of a JSON string, given without its quotes. Keeps a text with an invalid
/// one, or with a single surrogate, as it is.
///
/// Example: `a\"b\u00e4` becomes a"bä.
std::string unescaped(std::string_view text);

/// Text of parts / per_unit with as many decimals as it needs. `per_unit`: a power of ten.
///
/// Example: 1500 parts of 1,000 each are "1.5", and -2000 are "-2".
std::string decimal_text(std::int64_t parts, std::uint32_t per_unit);
/// Appends it to a text.
void append_decimal(std::string& text, std::int64_t parts, std::uint32_t per_unit);

/// A piece of a text for a sentence: at most 40 bytes, in quotes, on one line.
///
/// Example: 'soon\u000a' for soon and a line feed.
std::string excerpt(std::string_view text);

}  // namespace entrain::json
