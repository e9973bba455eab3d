// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace entrain::json {

/// A piece of a text for a sentence: at most 40 bytes, in quotes, on one line.
///
/// Example: 'soon\u000a' for soon and a line feed.
std::string excerpt(std::string_view text);

}  // namespace entrain::json
