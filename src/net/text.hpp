// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace entrain::net {

/// True for well-formed UTF-8: no stray bytes, no overlong forms, no surrogates.
bool is_utf8(std::string_view text);

}  // namespace entrain::net
