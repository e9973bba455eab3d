// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "otf2/anchor.hpp"
#include "otf2/definitions.hpp"
#include "trace/trace.hpp"

namespace entrain::otf2 {

/// An OTF2 archive on disk, opened for reading by our own scanner: nothing of it is trusted, the
/// OTF2 library never sees it. Const functions may be called from any thread.
class Archive final : public trace::Source {
 public:
  /// `path` is an anchor file or the folder that holds exactly one. Reads anchor and global
  /// definitions. Errors: ErrorKind::input with a sentence that names the file.
  static Result<std::unique_ptr<Archive>> open(const std::filesystem::path& path);

  const std::string& path() const override { return anchor_path_; }
  const trace::Definitions& definitions() const override { return definitions_; }
  Result<trace::LocationSkeleton> scan(LocationIndex location) const override;
  std::string region_at(LocationIndex location, std::uint64_t time) const override;

  [[nodiscard]] const Anchor& anchor() const { return anchor_; }
  /// Folder that holds the anchor, and the archive's name ("traces" for traces.otf2).
  [[nodiscard]] std::filesystem::path folder() const;
  [[nodiscard]] std::string name() const;
  /// Paths of the files of one location; they need not exist.
  [[nodiscard]] std::filesystem::path event_file(LocationIndex location) const;
  [[nodiscard]] std::filesystem::path definition_file(LocationIndex location) const;
  [[nodiscard]] std::filesystem::path snapshot_file(LocationIndex location) const;
  [[nodiscard]] std::filesystem::path global_definition_file() const;
  [[nodiscard]] std::filesystem::path marker_file() const;
  [[nodiscard]] std::filesystem::path thumbnail_file(std::uint32_t number) const;

 private:
  Archive() = default;
  [[nodiscard]] std::filesystem::path location_file(LocationIndex location,
                                                    const char* extension) const;

  std::string anchor_path_;
  Anchor anchor_;
  trace::Definitions definitions_;
  References references_;
};

}  // namespace entrain::otf2
