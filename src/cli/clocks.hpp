// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace entrain::cli {

std::unique_ptr<Verb> make_clocks();

}  // namespace entrain::cli
