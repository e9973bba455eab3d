// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <entrain/stragglers.hpp>

#include "report/report.hpp"

/// Who came late to collectives (entrain/stragglers.hpp), beside the report itself.
namespace entrain::report {

/// A sentence or two: who makes the others wait, how long, and what is not proved. On one line.
std::string stragglers_sentence(const StragglerReport& report);

/// A row of CSV per collective, in order of time, with the columns of `longest` in the JSON.
std::string stragglers_csv(const StragglerReport& report);

}  // namespace entrain::report
