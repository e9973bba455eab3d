// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace entrain::chrome {

/// The name of a manifest among the files of a run.
inline constexpr const char* k_manifest_name = "perfetto_manifest.json";

/// A file whose times Perfetto is to shift.
struct ManifestFile {
  std::string name;  ///< without folders
  std::uint32_t rank = 0;
  std::int64_t ahead = 0;  ///< ns to add to `ts` for the common time
};

/// The text of a manifest of version 1 (https://perfetto.dev/docs/reference/perfetto-manifest),
/// which puts the files of an archive on one time: that of the first file which needs no shift,
/// else that of the first one. Each rank is a machine of its own, so that equal numbers of
/// processes stay apart.
///
/// Example: of two files, `ahead` is 0 and 250. The second one is related to the first by an
/// `offset_ns` of 250: its events are shown 250 ns later than its `ts` says.
std::string manifest_text(std::span<const ManifestFile> files);

}  // namespace entrain::chrome
