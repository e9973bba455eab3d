// SPDX-License-Identifier: BSD-3-Clause
#include "spans/values.hpp"

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
  if (error != std::errc() || at != end) return {};
  number.digits = token;
  return number;
}

}  // namespace entrain::spans
