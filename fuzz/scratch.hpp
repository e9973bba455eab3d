// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "fuzz/targets.hpp"
#include "support/files.hpp"
#include "trace/trace.hpp"

namespace entrain::fuzz {

/// Tells what is wrong and aborts: a finding.
[[noreturn]] void finding(const std::string& what);

/// A small archive in a folder of its own, in memory if the system has such folders. Its files
/// are overwritten input after input.
class Scratch {
 public:
  /// All kinds of definitions, few events; locations 0, 7, 2^32+7 and others. With `mappings`
  /// the second and third location map their ids.
  explicit Scratch(bool mappings);

  [[nodiscard]] std::filesystem::path folder() const { return folder_.path() / "in"; }
  [[nodiscard]] std::filesystem::path anchor() const { return folder() / "traces.otf2"; }
  [[nodiscard]] std::filesystem::path output() const { return folder_.path() / "out"; }
  [[nodiscard]] std::filesystem::path event_file(std::uint64_t location) const;
  /// Writes the bytes as a file of chunks: pieces between k_cut are filled up to 256 KiB.
  static void write_chunks(const std::filesystem::path& file, Input input);
  static void write(const std::filesystem::path& file, Input input);

 private:
  TempFolder folder_;
};

/// One line that names a file of the archive: what every error must be.
void expect_good_error(const Scratch& scratch, const std::string& message);

/// Holds for every skeleton, whatever it was read from.
void expect_plausible(const trace::LocationSkeleton& skeleton, std::size_t file_size);

/// Reads the archive with the OTF2 library in a child process with limits and compares; what the
/// library refuses, and how it crashes, is no finding.
void compare_with_library(const Scratch& scratch, const trace::Trace& ours);

/// Whether this input is one to ask the library about.
bool chosen(Input input, Compare compare);

}  // namespace entrain::fuzz
