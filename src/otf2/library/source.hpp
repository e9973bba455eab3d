// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <entrain/error.hpp>

namespace entrain::otf2 {

/// The way to archives that our own scanner does not know: other substrates, other versions of the
/// format. The OTF2 C library reads one in a child process, because it aborts or never returns on
/// some damaged input, and what it reads is written down again in the form that the scanner knows:
/// definitions, stamps, types and, of the records that the scanner decodes, the fields. So there is
/// one reader that decides what a record means, and it trusts the child no more than any file.
class LibraryCopy {
 public:
  LibraryCopy(const LibraryCopy&) = delete;
  LibraryCopy& operator=(const LibraryCopy&) = delete;
  /// Removes the files.
  ~LibraryCopy();

  /// Reads the archive behind `anchor` completely and writes the copy into a new folder of the
  /// system's temporary folder; it takes about the room of the event files. Errors:
  /// ErrorKind::input with one sentence that begins with the anchor and `reason` (what is unusual
  /// about the archive, e.g. "uses the SIONlib substrate"), when this build is without the library
  /// or when the library refuses, crashes, or takes too much time or memory;
  /// ErrorKind::output when there is no room for the copy.
  static Result<std::unique_ptr<LibraryCopy>> make(const std::filesystem::path& anchor,
                                                   const std::string& reason);

  /// The folder that stands for that of the anchor: it holds NAME.def and NAME/.
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  explicit LibraryCopy(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

/// Chunk sizes of a copy, bytes.
inline constexpr std::uint64_t k_copy_event_chunk_size = std::uint64_t{1} << 20;
inline constexpr std::uint64_t k_copy_definition_chunk_size = std::uint64_t{16} << 20;

}  // namespace entrain::otf2
