// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>

namespace entrain {

/// Bytes of the well-formed UTF-8 sequence that `text`, which is not empty, begins with; 0 if it is
/// none: a stray byte, an overlong form, a surrogate, beyond U+10FFFF or cut off.
std::size_t utf8_sequence(std::string_view text);

/// True if all of `text` is well-formed UTF-8. The empty text is.
bool is_utf8(std::string_view text);

}  // namespace entrain
