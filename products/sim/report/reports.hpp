// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <entrain/distort.hpp>
#include <entrain/drop.hpp>
#include <entrain/synth.hpp>

#include "report/report.hpp"

namespace entrain::report {

template <>
std::string json_text(const DistortReport& report);
template <>
std::string json_text(const DropReport& report);
template <>
std::string json_text(const SynthReport& report);

/// The clocks that `distort` gave to a trace.
std::string to_text(const DistortReport& report, const Style& style);
/// Schema entrain.distort/1; the input is `archive`.
Json to_json(const DistortReport& report);

/// The records that `drop` lost, by kind and by location. Of many locations only those that lost
/// most, with a verbose style all.
std::string to_text(const DropReport& report, const Style& style);
/// Schema entrain.drop/1; the input is `archive`. Times are stored ticks.
Json to_json(const DropReport& report);

/// The trace that `synth` wrote.
std::string to_text(const SynthReport& report, const Style& style);
/// Schema entrain.synth/1.
Json to_json(const SynthReport& report);

}  // namespace entrain::report
