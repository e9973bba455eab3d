// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/process.hpp"

namespace entrain::test {

using Json = nlohmann::ordered_json;

/// Enough for a slow machine under a sanitizer.
inline ChildLimits tool_limits() {
  ChildLimits limits;
  limits.timeout_s = 100;
  return limits;
}

/// Runs the tool with these arguments.
inline ChildOutcome run_tool(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), ENTRAIN_BINARY);
  return run_program(arguments, tool_limits());
}

/// Runs `script` in a shell in which "$0" is the tool.
inline ChildOutcome run_shell(const std::string& script) {
  return run_program({"sh", "-c", script, ENTRAIN_BINARY}, tool_limits());
}

/// Path of a recorded trace that comes with the project, e.g. "lulesh-8".
inline std::string example(const std::string& name) {
  return (std::filesystem::path(ENTRAIN_EXAMPLES_DIR) / "traces" / name).string();
}

/// The outcome is a refusal: exit code 2, nothing on standard output, and on standard error one
/// line that begins with "entrain: " and contains `part`.
inline void expect_refusal(const ChildOutcome& outcome, const std::string& part) {
  EXPECT_EQ(outcome.exit_code, 2) << outcome.summary();
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(line_count(outcome.err), 1u) << outcome.err;
  EXPECT_EQ(outcome.err.rfind("entrain: ", 0), 0u) << outcome.err;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
}

/// The verdict, the first paragraph of a report for people, as one line.
inline std::string verdict_of(const std::string& text) {
  std::string first = text.substr(0, text.find("\n\n"));
  if (first.ends_with('\n')) first.pop_back();
  std::replace(first.begin(), first.end(), '\n', ' ');
  return first;
}

/// The one JSON document on standard output; null after a failure.
inline Json json_of(const ChildOutcome& outcome) {
  const Json json = Json::parse(outcome.out, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << outcome.summary();
  return json.is_discarded() ? Json() : json;
}

inline void expect_members(const Json& object, const std::vector<std::string>& names) {
  for (const std::string& name : names) EXPECT_TRUE(object.contains(name)) << name;
}

}  // namespace entrain::test
