// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <entrain/error.hpp>

#include "base/unfinished.hpp"

namespace entrain::otf2 {

/// A temporary copy of an archive that our own scanner does not know (another substrate, another
/// version of the format), made by the OTF2 C library.
///
/// The library reads the archive in a child process, because it aborts or never returns on some
/// damaged input. The child writes the data down again in the form that the scanner knows:
/// definitions, stamps, record types, and the fields of those records that the scanner decodes. So
/// one reader decides what a record means, and it trusts the child no more than any file.
class LibraryCopy {
 public:
  LibraryCopy(const LibraryCopy&) = delete;
  LibraryCopy& operator=(const LibraryCopy&) = delete;
  /// Removes the files.
  ~LibraryCopy();

  /// Reads the archive of `anchor` completely and writes the copy into a new folder of the system's
  /// temporary folder. The copy is about as large as the event files. Errors:
  /// ErrorKind::input with one sentence that begins with the anchor and `reason` (what is unusual
  /// about the archive, e.g. "uses the SIONlib substrate"), when this build is without the library
  /// or when the library refuses, crashes, or takes too much time or memory;
  /// ErrorKind::output when there is no room for the copy.
  static Result<std::unique_ptr<LibraryCopy>> make(const std::filesystem::path& anchor,
                                                   const std::string& reason);

  /// The folder to be read instead of the anchor's: it holds NAME.def and NAME/.
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  explicit LibraryCopy(std::filesystem::path folder)
      : folder_(std::move(folder)), unfinished_(folder_) {}
  std::filesystem::path folder_;
  Unfinished unfinished_;
};

/// Chunk sizes of a copy, bytes.
inline constexpr std::uint64_t k_copy_event_chunk_size = std::uint64_t{1} << 20;
inline constexpr std::uint64_t k_copy_definition_chunk_size = std::uint64_t{16} << 20;

}  // namespace entrain::otf2
