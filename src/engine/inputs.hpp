// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/align.hpp>
#include <entrain/options.hpp>

#include "engine/verbs.hpp"
#include "output/output.hpp"

namespace entrain::engine {

/// The rule for an output of a run that reads these traces or tables: none of their files is
/// touched, nor those that an overlay's links lead to. A folder that is given for the files in it
/// is an input as a whole; so is that of an archive's event files.
OutputRule output_rule(const Paths& inputs, bool force = false);
/// The same for a run that also reads the clock tables of the options.
OutputRule output_rule(const Paths& inputs, const CheckOptions& options, bool force = false);

/// The rule for the folder of align().
OutputRule output_rule(const AlignFiles& files);

}  // namespace entrain::engine
