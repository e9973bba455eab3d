// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>

#include <entrain/report.hpp>

#include "report/json.hpp"
#include "report/table.hpp"

namespace entrain::report {

/// An empty line, the heading, and a body of whole lines; "" without a body.
std::string section(const char* heading, const std::string& body, const Style& style);

/// "8 locations, 131,216 events (33,104 of communication), timer 1 GHz".
std::string trace_text(const CheckReport& report);

/// "linear: through the ClockOffset records", and why unless it was asked for.
std::string presync_text(const CheckReport& report);

/// A section on how well the sessions of each clock fit, a row per clock. "" if no clock was
/// measured.
std::string quality_text(const CheckReport& report, const Style& style);

/// Adds a field per guess, and per warning of the clocks; of these only the first one unless
/// `style` is verbose.
void add_warnings(FieldList& fields, const CheckReport& report, const Style& style);

/// A name for a sentence: printable, and cut in the middle where it is long.
std::string short_name(const std::string& name);

/// A paragraph on the worst violation of all kinds: who, where, when; "" if nothing is violated.
std::string worst_violation(const CheckReport& report, const Style& style);

/// A line for each reason why no clocks meet all edges; only the first `most`; "" if there is none.
std::string explanations_text(const CheckReport& report, const Style& style, std::size_t most);
/// That causes and effects may be exchanged, for a verdict; empty: they are not.
std::string exchange_text(const CheckReport& report);

/// A report that fits on a screen, if fewer rows of its lists help: `make(n)` shows at most n rows
/// of each list. All rows if `style` is verbose.
std::string on_a_screen(const Style& style, const std::function<std::string(std::size_t)>& make);

/// Texts that are not empty, with an empty line between two of them.
std::string paragraphs(std::initializer_list<std::string> texts);

/// The same for machines: an array.
Json explanations_json(const CheckReport& report);

/// A paragraph in lines that fit, each ending with a newline.
std::string paragraph(const std::string& text, const Style& style, Tone tone = Tone::plain);

/// Adds a field on folders of killed runs that were removed, if there were any.
void add_leftovers(FieldList& fields, std::uint64_t removed);

/// The same for machines: "leftovers_removed".
void add_leftovers(Json& json, std::uint64_t removed);

/// mu per class and where it came from.
std::string mu_text(const CheckReport& report);

/// "sends 40, receives 2"; counters at 0 only if `style` is verbose; "" if nothing is left.
std::string counters_text(const Counters& counts, const Style& style);

/// Adds a field with counters_text, unless that is empty.
void add_counters(FieldList& fields, const char* name, const Counters& counts, const Style& style);

/// "1 event file is missing, 2 event files are truncated"; "" if all of the trace could be read.
std::string unread_text(const CheckReport& report);

/// The line below a table on edges between locations that share a clock; "" if none do.
std::string inside_domains_text(const CheckReport& report);

/// A section on where the worst edge of each violated kind lies; with a verbose style also where
/// nothing is violated. Two rows per edge: its send and its receive.
std::string worst_edges(const char* heading, const CheckReport& report, const Style& style);

/// The edges of each kind, and if `after` is not null those after a correction. Ends with a
/// newline;
/// "" without edges.
std::string edges_text(const CheckReport& before, const CheckReport* after, const Style& style);

/// Shows how the times that a correction started from differ from the measured ones.
void add_timeline(FieldList& fields, const CheckReport& before, const TimelineReport& timeline);
/// TimelineReport for machines.
Json timeline_json(const CheckReport& before, const TimelineReport& timeline);

// The communication that could be checked, and the sentences with which check and correct begin.

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
