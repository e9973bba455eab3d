// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/help.hpp"

namespace entrain::cli {

/// Exit codes of the tool, the same for every verb.
enum ExitCode : int {
  k_exit_fine = 0,
  k_exit_violations = 1,  ///< violations found or remaining, or difference above the tolerance
  k_exit_failure = 2,     ///< bad usage, unreadable input, output that cannot be written
  k_exit_interrupted = 130,
};

/// One verb of the tool: its options, what its help says, and the work.
class Verb {
 public:
  virtual ~Verb() = default;
  [[nodiscard]] virtual const HelpText& help() const = 0;
  /// Adds the verb's options to `app`; they are stored in this object, which outlives the app.
  virtual void declare(CLI::App& app) = 0;
  /// Does the work with the options as parsed and returns the exit code.
  virtual int run() = 0;
  /// True if several processes do the work together; otherwise the first one does it alone.
  [[nodiscard]] virtual bool in_common() const { return false; }
};

}  // namespace entrain::cli
