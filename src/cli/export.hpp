// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace entrain::cli {

/// `entrain export`.
std::unique_ptr<Verb> make_export();

}  // namespace entrain::cli
