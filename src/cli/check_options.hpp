// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/options.hpp>

#include "cli/verb.hpp"

namespace entrain::cli {

/// Options of `check` that `correct` has too, so that both mean the same violations.
struct CheckArguments {
  CheckOptions options;
  bool strict_latency = false;  ///< edges closer than mu count as violations for the exit code

  void declare(CLI::App& app);
};

}  // namespace entrain::cli
