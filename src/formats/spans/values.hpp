// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "formats/json/memory.hpp"
#include "formats/spans/ids.hpp"

/// Values of a JSON text, read on demand by simdjson: each once, in order of the text.
namespace entrain::spans {

namespace ondemand = json::ondemand;
using ondemand::value;

inline bool is_a(value& from, ondemand::json_type type) {
  ondemand::json_type found{};
  return from.type().get(found) == simdjson::SUCCESS && found == type;
}

/// True if a string of a text has an escape. Reads up to 15 bytes after it, which parsers need too.
inline bool has_escape(std::string_view text) {
#if defined(__SSE2__)
  for (std::size_t at = 0; at < text.size(); at += sizeof(__m128i)) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const auto found =
        static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));
    if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found)) < text.size();
  }
  return false;
#else
  return text.find('\\') != std::string_view::npos;
#endif
}

/// The text between the quotes of a string, from its first byte to the value behind it.
inline std::string_view inside_quotes(const char* first, const char* end) {
  while (*--end != '"') {
  }
  return {first, static_cast<std::size_t>(end - first)};
}

/// Visits all members of an object, and none of any other value. False for damaged JSON.
template <class Visit>
bool each_member(value from, Visit visit) {
  ondemand::object object;
  if (!is_a(from, ondemand::json_type::object)) return true;
  if (from.get_object().get(object) != simdjson::SUCCESS) return false;
  for (auto field : object) {
    ondemand::raw_json_string raw;
    value inner;
    if (field.key().get(raw) != simdjson::SUCCESS) return false;
    if (field.value().get(inner) != simdjson::SUCCESS) return false;
    std::string_view key = inside_quotes(raw.raw(), inner.raw_json_token().data());
    if (has_escape(key) && field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
    if (!visit(key, inner)) return false;
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

/// Reads a string, unescaped; empty for any other value. False for damaged JSON. A view of the
/// text, or of what the parser keeps until the next document.
inline bool read_string(value from, std::string_view& text) {
  text = {};
  if (!is_a(from, ondemand::json_type::string)) return true;
  const std::string_view token = from.raw_json_token();
  text = inside_quotes(token.data() + 1, token.data() + token.size());
  if (has_escape(text)) return from.get_string().get(text) == simdjson::SUCCESS;
  // A string that is not taken, and before a colon, would be skipped as a key.
  ondemand::raw_json_string taken;
  return from.get_raw_json_string().get(taken) == simdjson::SUCCESS;
}

/// Reads a string to keep.
inline bool read_name(value from, std::string& name) {
  std::string_view text;
  const bool good = read_string(from, text);
  name = text;
  return good;
}

/// Reads an id.
inline bool read_id(value from, std::size_t most_digits, Id& id) {
  std::string_view text;
  const bool good = read_string(from, text);
  id = id_in(text, most_digits);
  return good;
}

/// A number or a string of digits.
///
/// Example: 1.25e2 has the value 125, 12.5 the value 12 and 500,000,000 billionths.
struct Number {
  std::string_view digits{};     ///< view of the text; empty: missing, negative or invalid
  std::uint64_t value = 0;       ///< whole part
  std::uint32_t billionths = 0;  ///< what follows the point; smaller parts are cut off
  bool has_decimals = false;     ///< else it is whole
  std::string_view invalid{};    ///< other text in its place; empty: none
};

Number number_of(value from);

/// The number in ns. `unit`: ns per unit, a power of ten. Truncates to whole ns; `value` in ns must
/// fit into 64 bits.
std::uint64_t ns_of(const Number& number, std::uint32_t unit);

}  // namespace entrain::spans
