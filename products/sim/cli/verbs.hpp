// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "cli/verbs.hpp"

namespace entrain::cli {

/// `entrain distort`: gives a trace wrong clocks.
std::unique_ptr<Verb> make_distort();
/// `entrain drop`: loses records of a trace.
std::unique_ptr<Verb> make_drop();
/// `entrain synth`: writes a simulated trace.
std::unique_ptr<Verb> make_synth();

}  // namespace entrain::cli
