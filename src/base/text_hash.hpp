// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

namespace entrain {

/// Hash of a text, 64 bit, for what leaves the process: it is the same in every build for machines
/// of one byte order, which std::hash need not be. Not against malice. Several bytes per cycle.
std::uint64_t text_hash(std::string_view text);

}  // namespace entrain
