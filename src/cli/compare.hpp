// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace entrain::cli {

/// `entrain compare`.
std::unique_ptr<Verb> make_compare();

}  // namespace entrain::cli
