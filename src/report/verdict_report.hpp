// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <entrain/report.hpp>

#include "report/json.hpp"
#include "report/table.hpp"

/// Text of the reports of `check` and `correct` on the communication that could be checked, and the
/// sentence they end with.
namespace entrain::report {

/// Adds a field with what the archive says of its own completeness; none if it says nothing.
void add_completeness(FieldList& fields, const Completeness& completeness);

/// {"mpi_communication": true, false or null, "incomplete": [names], "filters": {name: value}}.
Json completeness_json(const Completeness& completeness);

/// Adds a field with the share of the communication that could be checked, one with what
/// yields no edge, and one with what would help.
void add_coverage(FieldList& fields, const CheckReport& report);

/// Remarks about a trace: what was not recorded, warnings, and of an unproven verdict the coverage.
/// `removed`: see add_leftovers().
std::string notes_text(const CheckReport& report, const std::optional<Judgement>& judgement,
                       std::uint64_t removed, const Style& style);

/// The members of Coverage, and its share, null if nothing was recorded.
Json coverage_json(const Coverage& coverage);

/// The members of each SetAside.
Json set_aside_json(const CheckReport& report);

/// "violations", "clean" or "unproven", and the doubt, null if there is none: the members
/// "verdict" and "verdict_reason" of a report. Both null for a report without a judgement.
void add_verdict(Json& json, const std::optional<Judgement>& judgement);

/// Why a verdict is unproven, without a full stop. `dropped`: edges that contradict each other.
std::string unproven_text(const CheckReport& report, Doubt doubt, std::uint64_t dropped);

/// The sentence with which `check` begins, in lines of at most Style::columns, each with its end.
std::string verdict_text(const CheckReport& report, const Style& style);

/// The sentence with which `correct` begins: on the archive as written, or that it was
/// not checked.
std::string verdict_text(const CorrectReport& report, const Style& style);

}  // namespace entrain::report
