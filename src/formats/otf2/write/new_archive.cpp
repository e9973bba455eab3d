// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/write/new_archive.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/anchor.hpp"
#include "formats/otf2/format/archive_files.hpp"
#include "formats/otf2/format/format.hpp"
#include "formats/otf2/write/new_definitions.hpp"

namespace entrain::otf2 {

namespace {

namespace fs = std::filesystem;

constexpr const char* k_name = "traces";
constexpr std::uint8_t k_trace_format = 2;

/// The smallest chunk size that holds the largest record: a group of many members.
std::uint64_t definition_chunk_size(const DefinitionFile& file) {
  constexpr std::uint64_t k_frame = k_chunk_header_size + 16;
  std::uint64_t size = k_min_chunk_size;
  for (const DefinitionRecord& record : file.records) {
    while (size < record.payload.size() + k_frame && size < k_max_chunk_size) size *= 2;
  }
  return size;
}

/// FNV-1a.
std::uint64_t hash_of(std::span<const std::uint8_t> bytes, const std::string& text) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  const auto add = [&](std::uint8_t byte) { hash = (hash ^ byte) * 0x100000001B3u; };
  for (const std::uint8_t byte : bytes) add(byte);
  for (const char c : text) add(static_cast<std::uint8_t>(c));
  return hash;
}

}  // namespace

Result<NewArchive> NewArchive::create(const fs::path& directory, const OutputRule& rule) {
  TRY_ASSIGN(OutputFolder staged, OutputFolder::create(directory, rule));
  const fs::path folder = staged.path() / k_name;
  std::error_code error;
  if (!fs::create_directory(folder, error)) {
    return fail(ErrorKind::output,
                fmt::format("cannot create folder {}: {}", folder.string(), error.message()));
  }
  return NewArchive(std::move(staged));
}

fs::path NewArchive::local_file(std::uint64_t id, const char* extension) const {
  return directory_.path() / k_name / fmt::format("{}{}", id, extension);
}

fs::path NewArchive::event_file(std::uint64_t location_id) const {
  return local_file(location_id, ending::events);
}

Result<void> NewArchive::write_local_definitions(std::uint64_t location_id) const {
  const fs::path path = local_file(location_id, ending::definitions);
  TRY_ASSIGN(const auto bytes, pack_definition_file({}, k_min_chunk_size, path));
  return write_file(path, bytes);
}

Result<fs::path> NewArchive::commit(const trace::Definitions& definitions,
                                    const std::string& creator, const std::string& description) {
  const DefinitionFile file = new_global_definitions(definitions);
  const fs::path path = directory_.path() / fmt::format("{}{}", k_name, ending::definitions);
  Anchor anchor;
  anchor.trace_format = k_trace_format;
  anchor.event_chunk_size = k_event_chunk;
  anchor.definition_chunk_size = definition_chunk_size(file);
  anchor.location_count = definitions.locations.size();
  anchor.definition_count = file.records.size();
  anchor.creator = creator;
  anchor.description = description;
  TRY_ASSIGN(const auto bytes, pack_definition_file(file, anchor.definition_chunk_size, path));
  anchor.trace_id = hash_of(bytes, description);
  TRY(write_file(path, bytes));
  // The anchor comes last: without it nothing here looks like an archive.
  const std::string name = fmt::format("{}{}", k_name, ending::anchor);
  TRY_ASSIGN(const auto anchor_bytes, pack_anchor(anchor));
  TRY(write_file(directory_.path() / name, anchor_bytes));
  TRY(directory_.commit());
  return directory_.target() / name;
}

}  // namespace entrain::otf2
