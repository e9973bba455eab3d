// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <entrain/synth.hpp>

#include "report/json.hpp"
#include "report/table.hpp"

namespace entrain::report {

/// Shows people the trace that `synth` wrote.
std::string to_text(const SynthReport& report, const Style& style);

/// Schema entrain.synth/1: the members of SynthReport by name.
Json to_json(const SynthReport& report);
/// to_json() as text.
std::string json_text(const SynthReport& report);

}  // namespace entrain::report
