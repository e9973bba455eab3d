// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace entrain {

/// The name that was probably meant by a mistyped one: the one with the fewest changes of a letter
/// (insert, remove, replace, or exchange with the next one), at most a third of its length. "" if
/// there is none.
std::string most_similar(std::string_view typed, std::span<const std::string> names);

/// True if `a` stands before `b` where numbers in names count by value: host2 before host10.
bool in_natural_order(std::string_view a, std::string_view b);

}  // namespace entrain
