// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace entrain::cli {

/// `entrain drop`.
std::unique_ptr<Verb> make_drop();

}  // namespace entrain::cli
