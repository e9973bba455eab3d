// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "cli/verbs.hpp"

namespace entrain::cli {

/// `entrain record -o DIR -- COMMAND`.
std::unique_ptr<Verb> make_record();

}  // namespace entrain::cli
