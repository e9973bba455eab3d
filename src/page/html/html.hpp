// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <entrain/align.hpp>
#include <entrain/error.hpp>
#include <entrain/report.hpp>

#include "page/data.hpp"

namespace entrain::page {

/// False if this build has no template for pages: ENTRAIN_REPORT=OFF, or npm was missing.
bool can_write_pages();

/// The error that says so. ErrorKind::usage.
tl::unexpected<Error> no_pages();

/// Request that the end of the page shows.
struct Origin {
  std::string command;  ///< "check", "correct", "align" or "report"
};

/// A page that stands alone: no file or network beside it is needed. Names of a trace may hold any
/// bytes; they cannot leave the data block. Errors: no_pages().
Result<std::string> html(const CheckReport& report, const Data& data, const Origin& origin);
Result<std::string> html(const CorrectReport& report, const Data& data, const Origin& origin);
Result<std::string> html(const AlignReport& report, const Data& data, const Origin& origin);

/// JSON that cannot end the script element that it stands in: no '<' is left.
std::string harmless_in_script(std::string_view json);

/// Puts the data and the report for readers without scripts into the template, in the places of
/// their marks. Errors: ErrorKind::output if a mark is not there exactly once.
Result<std::string> fill_template(std::string_view page, std::string_view json,
                                  std::string_view text);

}  // namespace entrain::page
