// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/spans/spans.hpp"

/// Spans as the rows of a table of CSV.
namespace entrain::spans {

/// True if a text begins as a table of spans does: its header names trace, span, begin, and end or
/// duration.
bool is_span_table(std::string_view beginning);

/// The new text of a cell, by the mapped times of its stamp: in its notation, unit and decimals.
std::string cell_text(const Stamp& stamp, std::string_view text, std::int64_t time,
                      std::int64_t since);

}  // namespace entrain::spans
