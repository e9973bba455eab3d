// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "cli/tool.hpp"

namespace entrain::test {

/// The command that runs the tool with these arguments while calls fail as `variables` say, e.g.
/// "FAIL_MEMORY_FROM=7"; see failing_calls.c. Empty where the build cannot do it (sanitizers want
/// to be loaded first).
inline std::vector<std::string> preloaded(const std::vector<std::string>& variables,
                                          const std::vector<std::string>& arguments) {
#ifdef ENTRAIN_FAILING_CALLS
  std::vector<std::string> command{"env", "LD_PRELOAD=" ENTRAIN_FAILING_CALLS};
  command.insert(command.end(), variables.begin(), variables.end());
  command.emplace_back(ENTRAIN_BINARY);
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
#else
  static_cast<void>(variables);
  static_cast<void>(arguments);
  return {};
#endif
}

}  // namespace entrain::test

/// Leaves a test that needs preloaded().
#ifdef ENTRAIN_FAILING_CALLS
#define ENTRAIN_NEEDS_FAILING_CALLS() static_cast<void>(0)
#else
#define ENTRAIN_NEEDS_FAILING_CALLS() \
  GTEST_SKIP() << "a build with sanitizers, which want to be loaded first"
#endif
