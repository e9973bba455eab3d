// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <entrain/error.hpp>

#include "trace/definitions.hpp"

namespace entrain::otf2 {

/// Endings of the files of an archive. An archive "traces" with locations 0 and 7 is
///
///     traces.otf2       the anchor: versions, chunk sizes, properties
///     traces.def        the global definitions
///     traces.marker     markers, if there are any
///     traces.0.thumb    thumbnails, numbered from 0
///     traces/0.evt      the events of location 0
///     traces/0.def      its local definitions: mapping tables and clock offsets
///     traces/0.snap     its snapshots
///     traces/7.evt      ...
namespace ending {
inline constexpr const char *anchor = ".otf2", *definitions = ".def", *markers = ".marker",
                            *thumbnail = ".thumb", *events = ".evt", *snapshots = ".snap";
}

/// Larger anchor files are refused, bytes.
inline constexpr std::uint64_t k_largest_anchor = std::uint64_t{64} << 20;

/// The fields of an anchor file that are used here.
struct Anchor {
  std::uint8_t trace_format = 0;
  std::uint64_t event_chunk_size = 0;       ///< bytes, 256 KiB .. 16 MiB
  std::uint64_t definition_chunk_size = 0;  ///< bytes, likewise
  std::uint64_t location_count = 0;
  std::uint64_t definition_count = 0;
  std::string machine, creator, description;
  std::vector<trace::Property> properties;
  std::uint64_t trace_id = 0;
  std::uint32_t snapshot_count = 0;
  std::uint32_t thumbnail_count = 0;
  bool big_endian = false;
  std::size_t properties_begin = 0;  ///< position of the property count in the file
  std::size_t properties_end = 0;    ///< position after the last property
};

/// Decodes the bytes of an anchor file and refuses archives that cannot be read (compression,
/// impossible chunk sizes, other substrates, newer formats). Errors: ErrorKind::input, naming
/// `path`.
Result<Anchor> parse_anchor(std::span<const std::uint8_t> bytes, const std::filesystem::path& path);

/// The bytes of a little-endian anchor file with these fields, in the newest format. Errors:
/// ErrorKind::output for a text that holds a zero byte.
Result<std::vector<std::uint8_t>> pack_anchor(const Anchor& anchor);

/// The same anchor with other properties. Those whose names begin with `removed` are taken out
/// first (none if `removed` is empty). Each of `properties` then replaces the property of its name,
/// or is appended. Everything else stays, byte for byte. Anchors of formats without properties
/// (below 2) are returned unchanged.
std::vector<std::uint8_t> with_properties(std::span<const std::uint8_t> bytes, const Anchor& anchor,
                                          std::span<const trace::Property> properties,
                                          const std::string& removed = {});

}  // namespace entrain::otf2
