// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/decimal.hpp"

#include <fmt/core.h>

namespace entrain::json {

std::string decimal_text(std::int64_t parts, std::uint32_t per_unit) {
  const std::uint64_t size =
      parts < 0 ? ~static_cast<std::uint64_t>(parts) + 1 : static_cast<std::uint64_t>(parts);
  std::string text = fmt::format("{}{}", parts < 0 ? "-" : "", size / per_unit);
  const std::uint64_t rest = size % per_unit;
  if (rest == 0) return text;
  text += '.';
  for (std::uint64_t left = rest, tenth = per_unit / 10; left > 0; left %= tenth, tenth /= 10) {
    text += static_cast<char>('0' + left / tenth);
  }
  return text;
}

}  // namespace entrain::json
