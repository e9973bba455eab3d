// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace entrain {

// Names in files, paths and arguments may be any bytes: escape sequences for the terminal,
// characters that turn the direction of the text around them, others that nobody sees. Whatever
// shows such a text to people, on a terminal, in an exception or on a page, makes it printable.

/// `text` as people may see it. Each code point that does not show as itself stands there by its
/// number, as in JSON: a control or format character, a separator of lines or paragraphs, a
/// variation selector, filler or tag, a noncharacter. Those in `kept`, which are ASCII, stay. A
/// byte that is no UTF-8 becomes U+FFFD. The result stays as it is when made printable again.
///
/// Example: "a", ESC, "b" and U+202E become "a\u001bb\u202e".
std::string printable(std::string_view text, std::string_view kept = {});

/// Columns that printable text takes, one per code point.
std::size_t width_of(std::string_view text);

/// Printable text, at most `columns` wide: a longer one is cut in the middle, where names differ
/// least ("MPI_Al...ce").
std::string shortened(std::string_view text, std::size_t columns);

/// A sentence as a message for people: printable, its words at most 200 wide, and 380 in all.
std::string presentable(std::string_view sentence);

}  // namespace entrain
