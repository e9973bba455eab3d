// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <entrain/progress.hpp>

#include "base/file.hpp"
#include "base/file_stamp.hpp"
#include "formats/otf2/format/anchor.hpp"
#include "formats/otf2/format/definition_file.hpp"
#include "formats/otf2/read/event_file.hpp"
#include "formats/otf2/read/read_definitions.hpp"
#include "trace/trace.hpp"

namespace entrain::otf2 {

/// The files of a location.
enum class LocationFile : std::uint8_t { events, definitions, snapshots };
inline constexpr std::size_t k_location_files = 3;

/// True for the name of an anchor file.
bool is_anchor(const std::filesystem::path& path);
/// The anchor files in a folder, in order of their names, as far as it can be read.
std::vector<std::filesystem::path> anchors_in(const std::filesystem::path& folder,
                                              std::error_code& error);

/// An OTF2 archive on disk, opened for reading by our own scanner, which trusts nothing in it.
/// Const functions may be called from any thread.
class Archive {
 public:
  /// `path` is an anchor file or the folder that holds exactly one. Reads anchor and global
  /// definitions. Errors: ErrorKind::input with a sentence that names the file.
  /// `all`: the definitions of the archives of a run, to which those of this one are added; its
  /// locations, regions and so on have the positions behind the others.
  static Result<std::unique_ptr<Archive>> open(
      const std::filesystem::path& path,
      std::shared_ptr<trace::Definitions> all = std::make_shared<trace::Definitions>());

  /// Path of the anchor.
  [[nodiscard]] const std::string& path() const { return anchor_path_; }
  [[nodiscard]] const trace::Definitions& definitions() const { return *definitions_; }
  /// True for a location of this archive, and not of another one of the run.
  [[nodiscard]] bool owns(LocationIndex location) const {
    return location >= first_location_ && location - first_location_ < ids_.size();
  }
  /// The locations of this archive.
  [[nodiscard]] std::vector<LocationIndex> locations() const;
  /// OTF2 id of a location in the files; that of the definitions differs where another archive of
  /// the run has a location of this id.
  [[nodiscard]] std::uint64_t id_of(LocationIndex location) const {
    return ids_[location - first_location_];
  }
  /// Puts the name of the archive before those of its processes in `all`, which open() got.
  void label_processes(const std::string& label, trace::Definitions& all) const;
  /// Gives up with ErrorKind::interrupted when `progress`, which may be null, says so.
  Result<trace::LocationSkeleton> scan(LocationIndex location, Progress* progress = nullptr) const;
  /// See trace::EventReader.
  [[nodiscard]] Result<std::vector<trace::LocationSkeleton>> scan_all(
      std::span<const LocationIndex> locations, unsigned threads, Progress* progress) const;

  /// Notes what the system says about the files of these locations: to be called before they are
  /// read. Those of the whole archive are noted when it is opened. Small local definitions are read
  /// at once and kept: opening a file costs more than a few bytes of memory. Up to `threads`
  /// threads (0: all cores) ask, here and in check_unchanged().
  void note_files(std::span<const LocationIndex> locations, unsigned threads);
  /// Returns the stamp that was noted of a file; asks the system now if there is none.
  [[nodiscard]] FileStamp stamp(LocationIndex location, LocationFile file) const;
  /// file_exists() of a file of a location, by stamp().
  [[nodiscard]] bool has(LocationIndex location, LocationFile file) const {
    return stamp(location, file).named;
  }
  /// Refuses the archive if one of the files noted is not what it was. Errors: ErrorKind::input,
  /// naming the file.
  [[nodiscard]] Result<void> check_unchanged() const;

  /// The records of the local definitions, as kept or read now; nothing if there is no such file.
  /// Errors: ErrorKind::input for a damaged file.
  [[nodiscard]] Result<std::optional<DefinitionFile>> local_file(LocationIndex location) const;
  /// Copies the local definitions, which must exist. Errors as duplicate_file().
  [[nodiscard]] Result<void> copy_definitions(LocationIndex location,
                                              const std::filesystem::path& to) const;

  /// Errors: ErrorKind::input for a damaged file.
  [[nodiscard]] Result<LocalDefinitions> local_definitions(LocationIndex location) const;
  /// The event file with its definitions; `local` must outlive the result.
  [[nodiscard]] EventFile events_of(LocationIndex location, const LocalDefinitions& local) const;

  [[nodiscard]] const Anchor& anchor() const { return anchor_; }
  /// Folder that holds the anchor, and the archive's name ("traces" for traces.otf2).
  [[nodiscard]] std::filesystem::path folder() const;
  [[nodiscard]] std::string name() const;
  /// Names of the files of one location in their folder; they need not exist.
  [[nodiscard]] std::string name_of(LocationIndex location, LocationFile file) const;
  /// Paths of the files of one location; they need not exist.
  [[nodiscard]] std::filesystem::path event_file(LocationIndex location) const;
  /// Bytes of the event files of these locations; nothing for one that cannot be looked at.
  [[nodiscard]] std::uint64_t event_bytes(std::span<const LocationIndex> locations) const;
  [[nodiscard]] std::filesystem::path definition_file(LocationIndex location) const;
  [[nodiscard]] std::filesystem::path snapshot_file(LocationIndex location) const;
  [[nodiscard]] std::filesystem::path global_definition_file() const;
  [[nodiscard]] std::filesystem::path marker_file() const;
  [[nodiscard]] std::filesystem::path thumbnail_file(std::uint32_t number) const;
  /// Files that belong to no location, those that may be missing and the tables of the recorder
  /// among them; the anchor and the global definitions are the first ones.
  [[nodiscard]] std::vector<std::filesystem::path> common_files() const;
  /// Files of a location, some of which may be missing; the event file is the first one.
  [[nodiscard]] std::array<std::filesystem::path, k_location_files> files_of(
      LocationIndex location) const;

 private:
  Archive() = default;
  [[nodiscard]] std::filesystem::path location_file(LocationIndex location,
                                                    LocationFile file) const;
  /// Noted facts about the files of a location.
  struct Note {
    LocationIndex location = k_none;
    std::array<FileStamp, k_location_files> stamps;  ///< one for each of files_of()
    std::vector<std::uint8_t> definitions;           ///< bytes of a small file; empty: not kept
  };
  [[nodiscard]] Note take_note(LocationIndex location) const;
  [[nodiscard]] const Note* note_of(LocationIndex location) const;
  void take_ids(trace::Definitions& all);

  std::string anchor_path_;
  std::string location_folder_;  ///< ends with a slash
  Anchor anchor_;
  std::shared_ptr<trace::Definitions> definitions_;
  LocationIndex first_location_ = 0;  ///< position of the first location of this archive
  std::size_t first_group_ = 0, end_of_groups_ = 0;  ///< positions of its location groups
  std::vector<std::uint64_t> ids_;                   ///< OTF2 ids of its locations
  References references_;
  std::vector<FileStamp> common_stamps_;  ///< one for each of common_files()
  std::vector<Note> notes_;               ///< one for each location noted
  std::vector<std::uint32_t> note_of_;    ///< each location's place in `notes_`, or k_none
  unsigned threads_ = 1;                  ///< threads of note_files()
};

/// Stamps and record types of all events of a location, in stream order.
struct EventStamps {
  std::vector<std::uint64_t> stamps;  ///< stored stamps, ticks
  std::vector<std::uint8_t> types;    ///< OTF2 record types
  /// Per event: 1 for sends, receives, and ends of collectives that move data or synchronise
  /// (operation codes below 17), blocking or not; 0 for all others.
  std::vector<std::uint8_t> communication;
};

/// Reads the event file of a location. A missing file yields no events, a truncated one those
/// before its end. Errors: ErrorKind::input for a damaged file.
Result<EventStamps> read_stamps(const Archive& archive, LocationIndex location);

}  // namespace entrain::otf2
