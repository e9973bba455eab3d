// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace entrain {

/// True if `a` stands before `b` where numbers in names count by value: host2 before host10.
bool in_natural_order(std::string_view a, std::string_view b);

}  // namespace entrain
