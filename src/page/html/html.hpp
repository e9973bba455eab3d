// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <entrain/align.hpp>
#include <entrain/error.hpp>
#include <entrain/report.hpp>

#include "page/data.hpp"
#include "report/json.hpp"

namespace entrain::page {

/// False if this build has no template for pages: ENTRAIN_REPORT=OFF, or npm was missing.
bool can_write_pages();

/// The error that says so. ErrorKind::usage.
tl::unexpected<Error> no_pages();

/// A page of a check, correction or alignment that stands alone: no file or network beside it is
/// needed. Names of a trace may hold any bytes; they cannot leave the data block. Its end shows
/// `command`: "check", "correct", "align" or "report". Errors: no_pages().
template <class Report>
Result<std::string> html(const Report& report, const Data& data, const std::string& command);

/// JSON that cannot end the script element that it stands in: no '<' is left.
std::string harmless_in_script(std::string_view json);

/// Puts the data and the report for readers without scripts into the template, in the places of
/// their marks. Errors: ErrorKind::output if a mark is not there exactly once.
Result<std::string> fill_template(std::string_view page, std::string_view json,
                                  std::string_view text);

/// Schema entrain.page/2, described in docs/manual/report.md: the report as `--json` prints it, but
/// for its lists of clocks and the cost of the run, and what the page draws. Times and distances
/// are ticks; `hz` of them are a second; times count from `begin_ticks`. Names are cut to 120
/// characters.
report::Json page_json(const CheckReport& report, const Data& data, const std::string& command);
report::Json page_json(const CorrectReport& report, const Data& data, const std::string& command);
report::Json page_json(const AlignReport& report, const Data& data, const std::string& command);

}  // namespace entrain::page
