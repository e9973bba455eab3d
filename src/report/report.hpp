// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <entrain/align.hpp>
#include <entrain/clocks.hpp>
#include <entrain/compare.hpp>
#include <entrain/export.hpp>
#include <entrain/info.hpp>
#include <entrain/parts.hpp>
#include <entrain/report.hpp>
#include <entrain/stragglers.hpp>

#include "report/json.hpp"
#include "report/table.hpp"

/// Every report of the tool: `to_text(report, style)` for people, `json_text(report)` for programs.
/// A JSON object has the members of its report by name; times in
/// seconds end in `_s`, ticks in `_ticks`. What is not known is null.
namespace entrain::report {

/// to_json() as text, of each report below.
template <class Report>
std::string json_text(const Report& report);

/// Edges before and after the maps, bounds, and a verdict.
std::string to_text(const AlignReport& report, const Style& style);
/// Schema entrain.align/1: `before` and `after` are documents of `check`, of the edges by the
/// clocks as measured and by the maps.
Json to_json(const AlignReport& report);
/// The sentence with which `align` begins: on the edges by the maps. On one line.
std::string verdict_text(const AlignReport& report);
/// The same on the edges by the clocks as they are measured.
std::string stored_verdict_text(const AlignReport& report);

/// A table of the edges per kind, the places of the worst, the operations left out, and a verdict.
std::string to_text(const CheckReport& report, const Style& style);
/// Schema entrain.check/1. `verdict` is "violations", "clean" or "unproven", and `verdict_reason`
/// the doubt of an unproven one. `checked_edges` counts the kinds in force. `worst_s` and `worst`
/// are null for a kind without edges. The times of `worst` (`time_s`, `ticks`) are after
/// pre-synchronisation, `local_ticks` is as stored.
Json to_json(const CheckReport& report);

/// How the times of two archives differ; with many locations, only those that differ most are
/// listed, unless the style is verbose.
std::string to_text(const CompareReport& report, const Style& style);
/// Schema entrain.compare/1. `truth`, `a_error` and `b_error` are null without a truth.
Json to_json(const CompareReport& report);

/// Edges before and after, how far events moved, how local intervals changed, the passes, where the
/// archive lies and what it still needs.
std::string to_text(const CorrectReport& report, const Style& style);
/// Schema entrain.correct/1. `after`, `coverage`, `verdict` and `verdict_reason`, which speak of
/// the archive as written, are null if it was not verified. Of a pass, `max_displacement_s` is its
/// e, `error` is e relative to the span of the trace. `interval_change.histogram` has one bin per
/// upper limit (`up_to_share`; null in the last bin: no limit) with its number of `intervals` and
/// their total `time_s`.
Json to_json(const CorrectReport& report);

/// The tables that `edges` has written.
std::string to_text(const EdgesReport& report, const Style& style);
/// Schema entrain.edges/1.
Json to_json(const EdgesReport& report);

/// The report of `correct` on the times, and what `merge` has written.
std::string to_text(const MergeReport& report, const Style& style);
/// Schema entrain.merge/1; `correction` is a document of `correct`, of a planned correction.
Json to_json(const MergeReport& report);

/// The file that `export` has written.
std::string to_text(const ExportReport& report, const Style& style);
/// Schema entrain.export/1.
Json to_json(const ExportReport& report);

/// The contents of an archive.
std::string to_text(const ArchiveInfo& info, const Style& style);
/// Schema entrain.info/1. `length_s` and `span_s` are `length_ticks` and
/// `last_ticks - first_ticks` in seconds.
Json to_json(const ArchiveInfo& info);

/// Who makes the others wait: a row per process, and the groups, steps and collectives with the
/// longest waits.
std::string to_text(const StragglerReport& report, const Style& style);
/// Schema entrain.stragglers/1: `verdict` is "stragglers", "none" or "unproven" (nothing is
/// proved); `ranks`, `groups` and `steps` are rows; `longest` has the ten collectives with the
/// longest waits.
Json to_json(const StragglerReport& report);

/// Files, size and output of a part.
std::string to_text(const PartReport& report, const Style& style);
/// Schema entrain.part/1.
Json to_json(const PartReport& report);

/// The report of the correction, and where the clocks lie.
std::string to_text(const FitReport& report, const Style& style);
/// Schema entrain.fit/1; `correction` is a document of `correct`.
Json to_json(const FitReport& report);

/// A sentence or two: who makes the others wait, how long, and what is not proved. On one line.
std::string stragglers_sentence(const StragglerReport& report);

/// A row of CSV per collective, in order of time, with the columns of `longest` in the JSON.
std::string stragglers_csv(const StragglerReport& report);

/// Says in two or three sentences how far the times may be trusted, under which conditions, and
/// which clocks are not bounded at all. Ends with a newline; "" without bounds.
std::string bounds_text(const std::optional<ClockBounds>& bounds, std::uint64_t resolution_hz,
                        const Style& style);

/// The same for machines, with one object per location; {"reason"} alone if there are no bounds.
Json bounds_json(const ClockBounds& bounds, std::uint64_t resolution_hz);

/// ClockBounds::rows as a table: one line per location and window, times and offsets in ticks, the
/// bound in seconds. Cells without a bound are empty.
std::string bounds_csv(const ClockBounds& bounds, std::uint64_t resolution_hz);

// The table of clocks (entrain/clocks.hpp), in which every report says whose clock is wrong.

/// Order of the rows; `off`: as the table has them.
enum class ClockOrder { off, name, state, offset, drift, bound, edges };

/// Puts the rows in another order: names by natural order, figures by their size, the largest
/// first.
void sort_clocks(ClockTable& table, ClockOrder order);

/// A sentence or two: who is wrong by how much, and who is right. On one line.
std::string clocks_sentence(const ClockTable& table);

/// That sentence, and the rows of the clocks that are wrong, at most `most` of them. "" without
/// rows. `left`: edges that a correction leaves violated.
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
