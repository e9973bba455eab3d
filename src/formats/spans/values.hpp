// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/json/memory.hpp"

/// Values of a JSON text, read on demand by simdjson: each once, in order of the text.
namespace entrain::spans {

namespace ondemand = json::ondemand;
using ondemand::value;

inline bool is_a(value& from, ondemand::json_type type) {
  ondemand::json_type found{};
  return from.type().get(found) == simdjson::SUCCESS && found == type;
}

/// Visits all members of an object, and none of any other value. False for damaged JSON.
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

/// Visits all elements of an array, and none of any other value. False for damaged JSON.
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

/// Reads a string, unescaped; empty for any other value. False for damaged JSON.
bool read_string(value from, std::string& text);

/// A number or a string of digits.
///
/// Example: 1.25e2 has the value 125, 12.5 the value 12 and the decimals 5.
struct Number {
  std::string_view digits;   ///< view of the text; empty: missing, negative or invalid
  std::uint64_t value = 0;   ///< whole part
  std::string decimals;      ///< digits after the point; empty: it is whole
  std::string_view invalid;  ///< other text in its place; empty: none
};

Number number_of(value from);

/// The number in ns. `unit`: ns per unit, a power of ten. Truncates to whole ns; `value` in ns must
/// fit into 64 bits.
std::uint64_t ns_of(const Number& number, std::uint32_t unit);

}  // namespace entrain::spans
