// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace entrain::cli {

/// `entrain align`.
std::unique_ptr<Verb> make_align();

/// `entrain edges`.
std::unique_ptr<Verb> make_edges();

}  // namespace entrain::cli
