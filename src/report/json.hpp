// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <entrain/report.hpp>
#include <nlohmann/json_fwd.hpp>

namespace entrain::report {

using Json = nlohmann::ordered_json;

/// The number, or null where there is none or it is not finite: JSON has no infinities.
Json number(const std::optional<double>& value);

/// Ticks as seconds, or null.
Json seconds(std::int64_t ticks, std::uint64_t resolution_hz);
Json seconds(std::uint64_t ticks, std::uint64_t resolution_hz);
Json seconds(const std::optional<std::int64_t>& ticks, std::uint64_t resolution_hz);

/// The text, or null where it is empty.
Json text_or_null(const std::string& text);

/// An object with one member per counter, in their order; counters of one name are added up.
Json counters(const Counters& counts);

/// An array of what `make` makes of each element.
template <class Range, class Make, class Array = Json>
Array array_of(const Range& range, Make make) {
  Array array = Array::array();
  for (const auto& one : range) array.push_back(make(one));
  return array;
}

/// The names of an object's members, one or more, and their values, as lines of CSV; null is an
/// empty cell.
std::string csv_heading(const Json& row);
std::string csv_line(const Json& row);

/// The document as text with a final newline. Strings of a trace may be any bytes: what is not
/// UTF-8 is replaced by U+FFFD, so this does not throw; what a terminal may obey or nobody sees is
/// escaped (printable()), which changes no string.
std::string dump(const Json& document);

}  // namespace entrain::report
