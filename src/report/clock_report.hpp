// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include <entrain/clocks.hpp>
#include <entrain/report.hpp>

#include "report/json.hpp"
#include "report/table.hpp"

/// The table of clocks (entrain/clocks.hpp), in which every report says whose clock is wrong.
namespace entrain::report {

/// Order of the rows; `off`: as the table has them.
enum class ClockOrder { off, name, state, offset, drift, bound, edges };

/// Puts the rows in another order: names by natural order, figures by their size, the largest
/// first.
void sort_clocks(ClockTable& table, ClockOrder order);

/// A sentence or two: who is wrong by how much, and who is right. On one line.
std::string clocks_sentence(const ClockTable& table);

/// That sentence, and the rows of the clocks that are wrong, at most `most` of them. "" without
/// rows.
std::string wrong_clocks_text(const ClockTable& table, std::size_t most, const Style& style);
/// Likewise, after a correction that leaves so many edges violated.
std::string wrong_clocks_text(const ClockTable& table, std::uint64_t left, std::size_t most,
                              const Style& style);

/// The sentence, and all rows in an order.
std::string to_text(ClockTable table, const Style& style, ClockOrder order = ClockOrder::off);

/// An array with an object per clock: clock, machine, state, offset_s, most_s, drift_ppm, bound_s,
/// worst_bound_s, since_s, edges, violations, worst_s, worst_with, maybe_only. Null without
/// rows.
Json clocks_json(const ClockTable& table);

/// The same of the clocks of a check; where it proves nothing, its verdict and the rows.
std::string clocks_text(CheckReport check, const Style& style, ClockOrder order);

/// Schema entrain.clocks/1: archive, reference, and the rows as `clocks`.
Json to_json(const ClockTable& table);
/// Likewise with the verdict of the check.
std::string clocks_json_text(const CheckReport& check);

/// The rows with the names of clocks_json() as columns.
std::string clocks_csv(const ClockTable& table);

}  // namespace entrain::report
