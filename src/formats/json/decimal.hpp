// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace entrain::json {

/// Text of parts / per_unit with as many decimals as it needs. `per_unit`: a power of ten.
///
/// Example: 1500 parts of 1,000 each are "1.5", and -2000 are "-2".
std::string decimal_text(std::int64_t parts, std::uint32_t per_unit);

}  // namespace entrain::json
