// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace entrain::otf2 {

/// Name of the attribute (type STRING) at the end record of a collective call that names the
/// process's partners: "to 0-3,7 from 2" says that it sent data to the ranks 0, 1, 2, 3 and 7 and
/// received data from rank 2. Ranks rise; they are those of the communicator, on an
/// inter-communicator those of the other group. Without ranks a direction is its word alone.
inline constexpr const char* k_partners_attribute = "ENTRAIN::PARTNERS";

}  // namespace entrain::otf2
