// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace entrain::json {

/// A number that is counted in parts, of which `per_unit`, a power of ten, make a whole; with as
/// many decimals as it needs.
///
/// Example: 1500 parts of 1,000 each are "1.5", and -2000 are "-2".
std::string decimal_text(std::int64_t parts, std::uint32_t per_unit);

}  // namespace entrain::json
