// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/excerpt.hpp"

#include <fmt/core.h>

#include "base/printable.hpp"
#include "formats/json/text_file.hpp"

namespace entrain::json {

std::string excerpt(std::string_view text) {
  constexpr std::size_t k_most_shown = 40;
  return fmt::format("'{}'", printable(whole_characters(text.substr(0, k_most_shown))));
}

}  // namespace entrain::json
