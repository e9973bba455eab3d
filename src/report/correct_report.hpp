// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <entrain/report.hpp>

#include "report/json.hpp"
#include "report/table.hpp"

namespace entrain::report {

/// Shows people the work of `correct`: edges before and after, how far events moved, how local
/// intervals changed, the passes, where the archive lies and what it still needs.
std::string to_text(const CorrectReport& report, const Style& style);

/// Schema entrain.correct/1. `after`, `coverage`, `verdict` and `verdict_reason`, which speak of
/// the archive as written, are null if it was not verified. Of a pass, `max_displacement_s` is its
/// e, `error` is e relative to the span of the trace (null where that is not known).
/// `interval_change.histogram` has one bin per upper limit (`up_to_share`; null in the last bin: no
/// limit) with its number of `intervals` and their total `time_s`.
Json to_json(const CorrectReport& report);
/// to_json() as text.
std::string json_text(const CorrectReport& report);

// Parts of it that other reports have too.

/// Shows how the times that the correction started from differ from the measured ones.
void add_timeline(FieldList& fields, const CorrectReport& report);
/// The edges of each kind before and after.
Table before_and_after(const CorrectReport& report, const Style& style);
/// TimelineReport for machines.
Json timeline_json(const CorrectReport& report);

}  // namespace entrain::report
