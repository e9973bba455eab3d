// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Every report of the tool: `to_text(report, style)` for people, `json_text(report)` for programs.
#include "report/align_report.hpp"
#include "report/bounds_report.hpp"
#include "report/check_report.hpp"
#include "report/clock_report.hpp"
#include "report/compare_report.hpp"
#include "report/correct_report.hpp"
#include "report/distort_report.hpp"
#include "report/drop_report.hpp"
#include "report/export_report.hpp"
#include "report/info_report.hpp"
#include "report/synth_report.hpp"
