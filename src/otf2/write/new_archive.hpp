// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <entrain/error.hpp>

#include "base/staging.hpp"
#include "trace/definitions.hpp"

namespace entrain::otf2 {

/// An archive that is made from nothing. The files of locations come first, in any order and from
/// any thread, then commit(), which gives the archive its name; destroyed without it, nothing
/// remains.
class NewArchive {
 public:
  /// Chunk size of event files, bytes.
  static constexpr std::uint64_t k_event_chunk = std::uint64_t{1} << 20;

  /// `directory` must not exist unless `force`. Errors: ErrorKind::output.
  static Result<NewArchive> create(const std::filesystem::path& directory, bool force);

  /// Where the event file of a location has to be written (see EventWriter).
  [[nodiscard]] std::filesystem::path event_file(std::uint64_t location_id) const;

  /// Writes the local definitions of a location: none, ids are the global ones. Errors:
  /// ErrorKind::output.
  Result<void> write_local_definitions(std::uint64_t location_id) const;

  /// Writes the global definitions and the anchor and gives the archive its name. The trace id
  /// follows from the definitions and `description`. Returns the path of the anchor file. Errors:
  /// ErrorKind::output.
  Result<std::filesystem::path> commit(const trace::Definitions& definitions,
                                       const std::string& creator, const std::string& description);

 private:
  explicit NewArchive(StagedDirectory directory) : directory_(std::move(directory)) {}
  [[nodiscard]] std::filesystem::path local_file(std::uint64_t id, const char* extension) const;

  StagedDirectory directory_;
};

}  // namespace entrain::otf2
