// SPDX-License-Identifier: BSD-3-Clause
#include "base/file_mark.hpp"

#include <random>

#include <fmt/core.h>

#include <entrain/entrain.hpp>

namespace entrain {

const std::string& open_mark_digits() {
  static const std::string digits = fmt::format("{:08x}", std::random_device()());
  return digits;
}

std::string file_mark() {
  return fmt::format("{}{}{}{}", k_mark_begin, version(), k_mark_middle, open_mark_digits());
}

}  // namespace entrain
