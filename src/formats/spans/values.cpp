// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/values.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace entrain::spans {

namespace {

constexpr std::uint32_t k_billion = 1'000'000'000;

/// Reads a whole number of 64 bits; false for anything else.
bool read_digits(std::string_view text, std::uint64_t& number) {
  constexpr std::size_t k_safe = 19;  // digits of a number that fits for certain
  if (text.empty() || text.size() > k_safe) {
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && at == end;
  }
  std::uint64_t sum = 0;
  unsigned most = 0;
  // Eight digits at a time: pairs, fours and all of them (Lemire, 2018).
  for (; text.size() >= sizeof sum; text.remove_prefix(sizeof sum)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    constexpr std::uint64_t k_zeros = 0x3030303030303030, k_high = 0xF0F0F0F0F0F0F0F0;
    if ((word & k_high) != k_zeros || ((word + 0x0606060606060606) & k_high) != k_zeros) {
      return false;
    }
    word -= k_zeros;
    word = word * 10 + (word >> 8);
    word = ((word & 0x000000FF000000FF) * 0x000F424000000064 +
            (word >> 16 & 0x000000FF000000FF) * 0x0000271000000001) >>
           32;
    sum = sum * 100'000'000 + word;
  }
  for (const char c : text) {
    const auto digit = static_cast<unsigned>(c) - '0';
    most = std::max(most, digit);
    sum = sum * 10 + digit;
  }
  number = sum;
  return most < 10;
}

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
  number.has_decimals = digits.size() > wanted;
  std::uint32_t unit = k_billion;
  for (const char digit : std::string_view(digits).substr(wanted)) {
    unit /= 10;
    number.billionths += static_cast<std::uint32_t>(digit - '0') * unit;
  }
  const auto parsed = std::from_chars(digits.data(), digits.data() + wanted, number.value);
  return parsed.ec == std::errc();
}

}  // namespace

std::uint64_t ns_of(const Number& number, std::uint32_t unit) {
  return number.value * unit + std::uint64_t{number.billionths} * unit / k_billion;
}

Number number_of(value from) {
  std::string_view token = from.raw_json_token();
  if (token.starts_with('"')) {
    token = token.substr(1, token.find('"', 1) - 1);
  } else {
    token = token.substr(0, token.find_first_not_of("+-.0123456789eE"));
  }
  Number number;
  if (read_digits(token, number.value) || parse_decimal(token, number)) {
    number.digits = token;
    return number;
  }
  return {.invalid = token};
}

}  // namespace entrain::spans
