// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace entrain::trace {

/// Name of a collective operation, for example "Allreduce" for op::allreduce. "unknown operation"
/// for a code that OTF2 does not define.
const char* operation_name(std::uint8_t operation);

/// The code of a name that operation_name() gives, in upper or lower case; nothing for others.
std::optional<std::uint8_t> find_operation(std::string_view name);

}  // namespace entrain::trace
