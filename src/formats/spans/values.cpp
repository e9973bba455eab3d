// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/values.hpp"

#include <algorithm>
#include <charconv>

namespace entrain::spans {

bool read_string(value from, std::string& text) {
  text.clear();
  std::string_view view;
  if (!is_a(from, ondemand::json_type::string)) return true;
  if (from.get_string().get(view) != simdjson::SUCCESS) return false;
  text = view;
  return true;
}

namespace {

constexpr int k_most_shift = 64;  ///< largest exponent; beyond it no time is valid

/// Parses a number with a point or an exponent. False for anything else, or more than 64 bits.
bool parse_decimal(std::string_view text, Number& number) {
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  std::string_view exponent = text.substr(std::min(mark + 1, text.size()));
  if (exponent.starts_with('+') && !exponent.starts_with("+-")) exponent.remove_prefix(1);
  int shift = 0;
  const auto [end, error] =
      std::from_chars(exponent.data(), exponent.data() + exponent.size(), shift);
  const bool has_shift = error == std::errc() && end == exponent.data() + exponent.size();
  const bool is_far = shift < -k_most_shift || shift > k_most_shift;
  if ((mark < text.size() && !has_shift) || is_far) return false;
  std::string digits(text.substr(0, mark));
  const std::size_t point = std::min(digits.find('.'), digits.size());
  if (point < digits.size()) digits.erase(point, 1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return false;
  auto whole = static_cast<std::ptrdiff_t>(point) + shift;  // number of digits before the point
  if (whole < 1) {
    digits.insert(0, static_cast<std::size_t>(1 - whole), '0');
    whole = 1;
  }
  const auto wanted = static_cast<std::size_t>(whole);
  if (digits.size() < wanted) digits.resize(wanted, '0');
  number.decimals = digits.substr(wanted);
  const auto parsed = std::from_chars(digits.data(), digits.data() + wanted, number.value);
  return parsed.ec == std::errc();
}

}  // namespace

std::uint64_t ns_of(const Number& number, std::uint32_t unit) {
  std::uint64_t ns = number.value * unit;
  for (const char digit : number.decimals) {
    unit /= 10;
    ns += static_cast<std::uint64_t>(digit - '0') * unit;
  }
  return ns;
}

Number number_of(value from) {
  std::string_view token = from.raw_json_token();
  if (token.starts_with('"')) {
    token = token.substr(1, token.find('"', 1) - 1);
  } else {
    token = token.substr(0, token.find_first_not_of("+-.0123456789eE"));
  }
  Number number;
  const char* const end = token.data() + token.size();
  const auto [at, error] = std::from_chars(token.data(), end, number.value);
  if ((error == std::errc() && at == end) || parse_decimal(token, number)) {
    number.digits = token;
    return number;
  }
  return {.digits = {}, .value = 0, .decimals = {}, .invalid = token};
}

}  // namespace entrain::spans
