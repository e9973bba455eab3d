// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include <entrain/error.hpp>

#include "formats/merge_plan.hpp"

namespace entrain::kineto {

/// File name of a manifest.
inline constexpr const char* k_manifest_name = "perfetto_manifest.json";

/// A file that Perfetto shifts.
struct ManifestFile {
  std::string name;  ///< no folders
  std::uint32_t rank = 0;
  std::int64_t ahead = 0;  ///< ns to add to `ts` for the common time
  std::string clock{};     ///< name of the clock of a Perfetto trace; empty if it names none
};

/// Perfetto's name of a clock that it gives a number; empty for clocks without one.
std::string clock_name(std::uint32_t number);

/// The text of a manifest of version 1 (https://perfetto.dev/docs/reference/perfetto-manifest). It
/// relates all files to the first one that needs no shift, else to the first one. Each rank is a
/// machine of its own, so that equal numbers of processes stay apart.
///
/// Example: `ahead` of two files is 0 and 250. The second one gets an `offset_ns` of 250 to the
/// first: its events are shown 250 ns later than its `ts`.
std::string manifest_text(std::span<const ManifestFile> files);

/// Adds facts of the run to a manifest, as `attributes`. Errors: ErrorKind::output.
Result<void> annotate_manifest(const std::filesystem::path& path, const formats::Attributes& facts);

}  // namespace entrain::kineto
