// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "base/printable.hpp"
#include "report/json.hpp"

/// Comparison with the text files of this folder. After a change that is meant, run with
/// ENTRAIN_UPDATE_GOLDEN=1 and look at the difference.
namespace entrain::report {

inline void expect_golden(const std::string& name, const std::string& actual) {
  const std::filesystem::path path =
      std::filesystem::path(ENTRAIN_SOURCE_DIR) / "tests" / "golden" / name;
  if (std::getenv("ENTRAIN_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing; ENTRAIN_UPDATE_GOLDEN=1 writes it";
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(actual, expected.str()) << "if this is meant, update with ENTRAIN_UPDATE_GOLDEN=1";
}

inline void expect_fits(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(width_of(line), 100u) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

/// A report as text, as text with --verbose and as JSON; the second is not kept.
inline void expect_golden_report(const std::string& name, const std::string& text,
                                 const std::string& verbose, const Json& json) {
  expect_fits(text);
  expect_fits(verbose);
  expect_golden(name + ".txt", text);
  expect_golden(name + ".json", dump(json));
}

}  // namespace entrain::report
