// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace entrain::json {

/// A piece of a text as a sentence shows it: between quotes, at most 40 bytes of it, on one line.
///
/// Example: soon with a line feed behind it is 'soon\u000a'.
std::string excerpt(std::string_view text);

}  // namespace entrain::json
