// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace entrain::record {

/// True if `payload` can be that of an event record of this type which the recorder wrote, field by
/// field. As everywhere, the payload of a bare record is its compressed integer with the size byte.
/// False for types that the recorder does not write. Payloads in the byte order of this machine.
bool is_event_payload(std::uint8_t type, std::span<const std::uint8_t> payload);

/// The same for a list of attributes: the recorder writes strings only.
bool is_attribute_payload(std::span<const std::uint8_t> payload);

}  // namespace entrain::record
