// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <simdjson.h>

/// Values of a JSON text, as simdjson shows them on demand: each once, in the order of the text.
namespace entrain::spans {

namespace ondemand = simdjson::ondemand;
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
struct Number {
  std::string_view digits;  ///< in the text; empty: not there, or no whole number; `value` is 0
  std::uint64_t value = 0;
};

Number number_of(value from);

}  // namespace entrain::spans
