// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <entrain/error.hpp>

#include "formats/otf2/format/definition_file.hpp"
#include "output/output.hpp"
#include "trace/definitions.hpp"

namespace entrain::otf2 {

/// An archive made from nothing. First the files of the locations are written, in any order and by
/// any thread; then commit() gives the archive its name. Without commit() nothing remains.
class NewArchive {
 public:
  /// Chunk size of event files, bytes.
  static constexpr std::uint64_t k_event_chunk = std::uint64_t{1} << 20;

  /// Errors: those of OutputFolder::create().
  static Result<NewArchive> create(const std::filesystem::path& directory, const OutputRule& rule);

  /// Folders that killed runs had left and that create() removed.
  [[nodiscard]] std::uint64_t leftovers_removed() const { return directory_.leftovers_removed(); }

  /// Path at which an EventWriter has to write the event file of a location.
  [[nodiscard]] std::filesystem::path event_file(std::uint64_t location_id) const;

  /// Writes an empty file of local definitions: the location uses the global ids. Errors:
  /// ErrorKind::output.
  Result<void> write_local_definitions(std::uint64_t location_id) const;

  /// Writes the global definitions and the anchor, waits until all is on the disk, and gives the
  /// archive its name. The trace id
  /// follows from the definitions and `description`. Returns the path of the anchor file. Errors:
  /// ErrorKind::output.
  Result<std::filesystem::path> commit(const trace::Definitions& definitions,
                                       const std::string& creator, const std::string& description);

 private:
  explicit NewArchive(OutputFolder directory) : directory_(std::move(directory)) {}
  [[nodiscard]] std::filesystem::path local_file(std::uint64_t id, const char* extension) const;

  OutputFolder directory_;
};

/// The global definition records of a new archive: clock, system tree, processes, locations,
/// regions, and intra-communicators with their groups. The order of the locations is
/// that of their MPI ranks. Ids are positions, except that locations keep theirs. Other definitions
/// (RMA windows, groups that records name, inter-communicators) are left out.
DefinitionFile new_global_definitions(const trace::Definitions& definitions);

}  // namespace entrain::otf2
