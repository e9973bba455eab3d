// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace entrain::cli {

/// `entrain synth -o DIR`.
std::unique_ptr<Verb> make_synth();

}  // namespace entrain::cli
