// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/report.hpp>

#include "cli/common.hpp"
#include "engine/verbs.hpp"
#include "output/output.hpp"

namespace entrain::cli {

/// A verb that reads a trace with the options of `check`, so that all mean the same violations.
class CheckingVerb : public Verb {
 protected:
  /// Adds the options of the check, and those of every verb; `rows`: see CommonOptions::declare().
  void declare_check(OptionSet& set, const std::string& rows);

  [[nodiscard]] engine::Paths paths() const { return engine::paths_of(archive_); }

  /// Before the work: settles what options mean together, and refuses a file that cannot be
  /// written beside the inputs. Errors: as OutputFile::check(), the same in every process.
  Result<void> prepare();
  /// Writes the file after the work, if it is wanted. Errors as prepare().
  Result<void> write_bounds(const std::optional<ClockBounds>& bounds,
                            std::uint64_t resolution_hz) const;
  /// The rule for outputs for which there is no --force.
  [[nodiscard]] OutputRule rule() const;

  std::vector<std::string> archive_;
  CheckOptions check_;
  std::string bounds_csv_;  ///< file for the error bounds of all clocks; empty: none
  CommonOptions common_;

 private:
  OutputRule rule_;
};

/// Options of amortization, of the verbs that compute what is written.
struct MethodArguments {
  CorrectOptions options;

  void declare(OptionSet& set);
  /// Refuses options that others make meaningless.
  [[nodiscard]] Result<void> refuse_useless(const OptionSet& set) const;
};

}  // namespace entrain::cli
