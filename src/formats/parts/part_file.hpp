// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <entrain/error.hpp>

#include "formats/json/packing.hpp"

/// Files that carry a run from one step of its correction to the next: summaries of its parts, and
/// its fitted clocks (docs/manual/engines.md).
namespace entrain::parts {

enum class Kind : std::uint8_t { summary, clocks };

/// True for a file of this kind, of any version.
bool is_of(Kind kind, const std::filesystem::path& file);

/// Writes a file from begin to end: a line that names kind and version, the content packed, and a
/// checksum of that.
class PartWriter {
 public:
  using Sink = std::function<Result<void>(std::string_view text)>;
  PartWriter(Kind kind, Sink sink);
  /// Adds to the content. Errors, here and below: those of `sink`.
  Result<void> write(std::string_view content) { return pack(content, false); }
  /// Must be called to complete the file.
  Result<void> close();

 private:
  Result<void> pack(std::string_view content, bool last);

  Sink sink_;
  std::unique_ptr<json::Packer> packer_;
  std::string line_;  ///< the first one, until it is written
  std::uint64_t hash_;
};

/// The text of a file with this content.
std::string file_text(Kind kind, std::string_view content);

/// The content of a file. Errors: ErrorKind::input for a file of another kind or version, or one
/// that is damaged or cut off.
Result<std::string> content_of(Kind kind, const std::filesystem::path& file);

}  // namespace entrain::parts
