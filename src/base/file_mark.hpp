// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace entrain {

/// The mark of a file, to be written within its first `k_mark_reach` bytes, in front of anything
/// foreign: "written by entrain 0.1.0 crc32 89abcdef". It has no character that CSV, JSON or HTML
/// would escape. complete_mark() puts the checksum of the file in place of the digits, which nobody
/// can foresee: foreign text that looks like a mark stays as it is.
std::string file_mark();
inline constexpr std::size_t k_mark_reach = 4096;  ///< bytes

/// The beginning of every mark, and what stands between the version and the digits.
inline constexpr std::string_view k_mark_begin = "written by entrain ", k_mark_middle = " crc32 ";
/// Digits of the marks of this process until their files are complete.
const std::string& open_mark_digits();

}  // namespace entrain
