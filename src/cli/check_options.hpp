// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/report.hpp>

#include "cli/verb.hpp"
#include "engine/verbs.hpp"
#include "output/output.hpp"

namespace entrain::cli {

/// Options of `check` that `correct` has too, so that both mean the same violations.
struct CheckArguments {
  CheckOptions options;

  std::string bounds_csv;  ///< file for the error bounds of all clocks; empty: none

  void declare(OptionSet& set);

  /// Before the work: settles what options mean together, and refuses a file that cannot be
  /// written beside these inputs. Errors: as OutputFile::check(), the same in every process.
  Result<void> prepare(const engine::Paths& inputs);
  /// Writes the file after the work, if it is wanted. Errors as prepare().
  Result<void> write_bounds(const std::optional<ClockBounds>& bounds,
                            std::uint64_t resolution_hz) const;
  /// The rule for outputs of a run with these inputs, for which there is no --force.
  [[nodiscard]] OutputRule rule(const engine::Paths& inputs) const;

 private:
  OutputRule rule_;
};

}  // namespace entrain::cli
