// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <entrain/error.hpp>

#include "formats/spans/spans.hpp"

/// Spans as the rows of a table of CSV.
namespace entrain::spans {

/// Refuses a text that does not begin as a table of spans does, whose header names trace, span,
/// begin, and end or duration. `columns`: words of CheckOptions::columns. Errors: those of
/// tables::columns_of() and tables::Reader::open(); ErrorKind::input for missing columns.
Result<void> check_span_table(std::string_view beginning, const std::string& name,
                              std::string_view columns);
/// True if a text begins as such a table, and not as JSON or a table of edges does.
bool is_span_table(std::string_view beginning, std::string_view columns = {});

/// The new text of a cell, by the mapped times of its stamp: in its notation, unit and decimals.
std::string cell_text(const Stamp& stamp, std::string_view text, std::int64_t time,
                      std::int64_t since);

}  // namespace entrain::spans
