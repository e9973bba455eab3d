// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace entrain::test {

/// An archive that tests run over: a recorded one, or one that is generated when asked for.
struct TestArchive {
  std::string name;  ///< letters, digits, underscores: part of test names
  /// Path of the anchor file; generated archives are written below `scratch`.
  std::function<std::filesystem::path(const std::filesystem::path& scratch)> make;
};

/// Name only, so that test names stay readable.
inline void PrintTo(const TestArchive& archive, std::ostream* out) { *out << archive.name; }

/// Generated archives, those of examples/traces, and those of the folder of further traces that
/// are not among the examples.
std::vector<TestArchive> test_archives();

/// Archives with accelerators, whose kernels the readers of the library tests do not know.
std::vector<TestArchive> accelerator_archives();

/// True if the folder of further traces exists.
bool has_shared_traces();

}  // namespace entrain::test
