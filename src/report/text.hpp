// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace entrain::report {

/// Text that is safe to show: control characters become '?', bytes that are not UTF-8 become
/// U+FFFD. Names in a trace are any bytes at all, escape sequences for the terminal among them.
std::string printable(std::string_view text);

/// Columns that printable UTF-8 text takes, one per code point.
std::size_t width_of(std::string_view text);

/// At most `columns` wide: longer text is cut in the middle, where names differ least
/// ("MPI_Al...ce").
std::string shortened(std::string_view text, std::size_t columns);

/// Breaks text at blanks into lines of at most `columns`; a longer word has a line of its own.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

}  // namespace entrain::report
