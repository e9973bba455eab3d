// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/error.hpp>
#include <entrain/options.hpp>

#include "cli/verb.hpp"

namespace entrain::cli {

/// Options of amortization, of the verbs that compute what is written.
struct MethodArguments {
  CorrectOptions options;

  void declare(OptionSet& set);
  /// Refuses options that others make meaningless.
  [[nodiscard]] Result<void> refuse_useless(const OptionSet& set) const;
};

}  // namespace entrain::cli
