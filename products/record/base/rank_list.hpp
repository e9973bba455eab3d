// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace entrain::record {

/// The ranks as a short text: {0, 1, 2, 3, 7} is "0-3,7". They keep their order.
std::string join_ranks(const std::vector<int>& ranks);

/// The ranks of such a text; nothing for a broken one.
std::vector<std::uint32_t> split_ranks(const std::string& text);

/// The parts of `text` between separators, which may be empty; at least one.
std::vector<std::string> split(const std::string& text, char separator);

}  // namespace entrain::record
