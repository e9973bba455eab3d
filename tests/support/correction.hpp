// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include <entrain/entrain.hpp>

namespace entrain::test {

/// How much of a correction to look at.
struct Scrutiny {
  bool records = true;     ///< compare the text of otf2-print: slow
  bool second_run = true;  ///< correct the results again: no time may change
};

/// Corrects the archive in both modes below `scratch` and expects what must hold of any correction
/// (docs/method.md, section 6): no violation left, told by the checker and by the checker on what
/// the OTF2 library reads; both modes give the same times, event for event; order kept; records
/// unchanged; a second run changes nothing. Failures are reported to GoogleTest. Returns the report
/// of the rewritten archive.
CorrectReport expect_corrected(const std::filesystem::path& anchor,
                               const std::filesystem::path& scratch, CorrectOptions options = {},
                               const Scrutiny& scrutiny = {});

/// Corrects a trace without violations in both modes and expects every event file, byte for byte,
/// and in overlay mode every local definition file too.
void expect_untouched(const std::filesystem::path& anchor, const std::filesystem::path& scratch);

}  // namespace entrain::test
