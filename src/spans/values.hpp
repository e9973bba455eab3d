// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "json/memory.hpp"

/// Values of a JSON text, as simdjson shows them on demand: each once, in the order of the text.
namespace entrain::spans {

namespace ondemand = json::ondemand;
using ondemand::value;

inline bool is_a(value& from, ondemand::json_type type) {
  ondemand::json_type found{};
  return from.type().get(found) == simdjson::SUCCESS && found == type;
}

/// Shows all members of an object; what is no object has none. False for damaged JSON.
template <class Visit>
bool each_member(value from, Visit visit) {
  ondemand::object object;
  if (!is_a(from, ondemand::json_type::object)) return true;
  if (from.get_object().get(object) != simdjson::SUCCESS) return false;
  for (auto field : object) {
    std::string_view key;
    value inner;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
    if (field.value().get(inner) != simdjson::SUCCESS || !visit(key, inner)) return false;
  }
  return true;
}

/// Shows all elements of an array; what is no array has none. False for damaged JSON.
template <class Visit>
bool each_element(value from, Visit visit) {
  ondemand::array array;
  if (!is_a(from, ondemand::json_type::array)) return true;
  if (from.get_array().get(array) != simdjson::SUCCESS) return false;
  for (auto element : array) {
    value inner;
    if (element.get(inner) != simdjson::SUCCESS || !visit(inner)) return false;
  }
  return true;
}

/// A string without escapes; empty for others. False for damaged JSON.
bool read_string(value from, std::string& text);

/// Numbers and strings of digits alike, with their place in the text.
///
/// Example: 1.25e2 has the value 125, 12.5 the value 12 and the part 5.
struct Number {
  std::string_view digits;  ///< in the text; empty: not there, or no number that is not negative
  std::uint64_t value = 0;  ///< the whole of it
  std::string part;         ///< digits behind the point; empty: it is whole
  std::string_view odd;     ///< what stands there instead of such a number; empty: nothing
};

Number number_of(value from);

/// In ns, where a unit is so many ns, a power of ten; what is less than 1 ns is cut off. The whole
/// of it in ns must fit into 64 bits.
std::uint64_t ns_of(const Number& number, std::uint32_t unit);

}  // namespace entrain::spans
