// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace entrain::otf2 {

/// The fields of an anchor file that matter here (otf2.md, section 2).
struct Anchor {
  std::uint8_t trace_format = 0;
  std::uint64_t event_chunk_size = 0;
  std::uint64_t definition_chunk_size = 0;
  std::uint64_t location_count = 0;
  std::uint64_t definition_count = 0;
  std::string machine, creator, description;
  std::vector<trace::Property> properties;
  std::uint64_t trace_id = 0;
  std::uint32_t snapshot_count = 0;
  std::uint32_t thumbnail_count = 0;
  std::uint64_t properties_offset = 0;  ///< position of the 4-byte property count in the file
  std::uint64_t trace_id_offset = 0;    ///< position of the 8-byte trace id in the file
  bool big_endian = false;
};

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
  std::string anchor_path_;
  Anchor anchor_;
  trace::Definitions definitions_;
};

}  // namespace entrain::otf2
