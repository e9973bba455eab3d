// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace entrain::record {

/// Number of the attribute that names the partners of a call, in records and in definitions.
inline constexpr std::uint32_t k_partners_attribute_number = 0;
/// Stands for a call without a list of partners.
inline constexpr std::uint32_t k_no_partners = ~std::uint32_t{0};

/// The ranks to which a process has sent data in a call, and those from which it has received data:
/// {0, 1, 2} and {4} are "to 0-2 from 4". No ranks give no word: {} and {} are "to from".
std::string partners_text(const std::vector<int>& to, const std::vector<int>& from);

}  // namespace entrain::record
