// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace entrain::page {

/// The page without data, as built from web/; empty if this build has none. CMake generates the
/// source file.
std::string_view page_template();

/// Where the data go.
inline constexpr std::string_view k_data_mark = "{\"entrain\":\"data\"}";

/// Where the report as text goes.
inline constexpr std::string_view k_text_mark = "<!--entrain:text-->";

}  // namespace entrain::page
