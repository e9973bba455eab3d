// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "formats/otf2/load.hpp"
#include "formats/otf2/read/archive.hpp"

namespace entrain::otf2 {

/// An overlay that is read beside its original. The events of both are the same, and one copy of
/// them is enough: this object borrows the skeletons of the original while it lives, and gives them
/// back when it is destroyed. Meanwhile the locations of the original are empty.
class Overlay {
 public:
  /// Opens an overlay of `original`, of each of its archives, which must outlive the result. An
  /// event file that both do not share (a copy, or a reflink) is scanned, and its skeleton replaces
  /// that of the original, which is the same. Collective; errors: those of load(). After an error
  /// the original has its skeletons again, but for a location whose file in the overlay could not
  /// be scanned.
  static Result<Overlay> open(trace::Workers& workers, std::span<const std::filesystem::path> paths,
                              trace::LoadedTrace& original);

  Overlay(Overlay&& other) noexcept;
  Overlay& operator=(Overlay&&) = delete;
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;
  ~Overlay();

  /// The overlay with the skeletons of this process's locations.
  [[nodiscard]] const trace::LoadedTrace& written() const { return written_; }

 private:
  /// The parts of an original skeleton that differ from the overlay's; not the events.
  struct Kept {
    std::vector<trace::ClockOffset> clock_offsets;
    bool definition_file_missing = false;
  };

  explicit Overlay(trace::LoadedTrace& original) : original_(&original) {}
  /// Moves the skeleton of a location here and makes it that of the overlay.
  Result<void> borrow(LocationIndex l);

  trace::LoadedTrace* original_;  ///< null after a move
  trace::LoadedTrace written_;
  std::vector<std::optional<Kept>> kept_;  ///< borrowed parts of each location; empty: nothing was
                                           ///< borrowed
};

/// Saves reading the events of an overlay's location again. `skeleton` was scanned from the
/// original. If the overlay's event file *is* the original's (through a symbolic or hard link), and
/// the local definitions differ in ClockOffset records only, the skeleton becomes the overlay's:
/// its clock offsets are replaced, and the result is true. Otherwise it is not touched. Errors:
/// ErrorKind::input for damaged local definitions.
Result<bool> adopt_skeleton(const Archive& original, const Archive& overlay, LocationIndex location,
                            trace::LocationSkeleton& skeleton);

}  // namespace entrain::otf2
