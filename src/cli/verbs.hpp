// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "cli/help.hpp"
#include "cli/option_set.hpp"

namespace entrain::cli {

/// Exit codes of the tool, the same for every verb.
enum ExitCode : int {
  k_exit_fine = 0,
  k_exit_violations = 1,  ///< violations found or remaining, or difference above the tolerance
  k_exit_failure = 2,     ///< bad usage, unreadable input, output that cannot be written
  k_exit_unproven = 3,    ///< nothing violated, but too little could be checked to say more
  k_exit_interrupted = 130,
};

/// A verb of the tool: its options, its help and its work.
class Verb {
 public:
  virtual ~Verb() = default;
  [[nodiscard]] virtual const HelpText& help() const = 0;
  /// Adds the verb's options to `set`; their values are stored in this object, which outlives it.
  virtual void declare(OptionSet& set) = 0;
  /// Does the work with the options as parsed and returns the exit code.
  virtual int run() = 0;
  /// True if several processes do the work together; otherwise the first one does it alone.
  [[nodiscard]] virtual bool in_common() const { return false; }
};

// The verbs of the tool: make_check() makes `entrain check`. Those of products have headers of
// their own.

std::unique_ptr<Verb> make_align();
std::unique_ptr<Verb> make_apply();
std::unique_ptr<Verb> make_check();
std::unique_ptr<Verb> make_clocks();
std::unique_ptr<Verb> make_compare();
std::unique_ptr<Verb> make_correct();
std::unique_ptr<Verb> make_edges();
std::unique_ptr<Verb> make_export();
std::unique_ptr<Verb> make_fit();
std::unique_ptr<Verb> make_info();
std::unique_ptr<Verb> make_merge();
std::unique_ptr<Verb> make_report();
std::unique_ptr<Verb> make_stragglers();
std::unique_ptr<Verb> make_summarise();

}  // namespace entrain::cli
