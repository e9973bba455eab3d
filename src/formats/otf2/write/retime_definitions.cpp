// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/write/retime_definitions.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <unordered_map>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/definition_file.hpp"
#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t k_undefined = ~std::uint64_t{0};
constexpr std::uint8_t k_marker_record = 6;
constexpr std::uint8_t k_scope_location = 1;

/// `value` in exactly `width` value bytes, zero padded; nothing if it does not fit.
std::optional<std::vector<std::uint8_t>> padded(std::uint64_t value, std::size_t width,
                                                bool big_endian) {
  if (width > 8 || (width < 8 && value >> (8 * width) != 0)) return std::nullopt;
  std::vector<std::uint8_t> bytes{static_cast<std::uint8_t>(width)};
  for (std::size_t i = 0; i < width; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(value >> (8 * (big_endian ? width - 1 - i : i))));
  }
  return bytes;
}

/// The numbers of a ClockProperties record and the widths in which they are stored.
struct ClockRecord {
  std::array<std::uint64_t, 4> values{0, 0, 0, k_undefined};
  std::array<std::size_t, 4> widths{};
  std::size_t fields = 0;  ///< 3 before OTF2 3.0
};

ClockRecord decode_clock(const DefinitionRecord& record, bool big_endian) {
  ClockRecord clock;
  FieldReader in(record.payload.data(), record.payload.size(), big_endian);
  while (clock.fields < 4 && in.left() > 0) {
    const std::size_t size = *in.position();
    clock.widths[clock.fields] = size == 0xFF ? 0 : size;
    clock.values[clock.fields++] = in.c64();
  }
  return clock;
}

/// Widens the range to hold [first, last]; true if anything changed.
bool widen(ClockRecord& clock, std::int64_t first, std::int64_t last) {
  auto& [resolution, offset, length, realtime] = clock.values;
  const auto begin = std::min(offset, static_cast<std::uint64_t>(std::max<std::int64_t>(first, 0)));
  const std::uint64_t old_end = length > k_undefined - offset ? k_undefined : offset + length;
  const auto end = std::max(old_end, static_cast<std::uint64_t>(std::max<std::int64_t>(last, 0)));
  if (begin == offset && end - begin == length) return false;
  if (realtime != k_undefined && begin != offset) {
    const double moved_ns =
        static_cast<double>(offset - begin) * 1e9 / static_cast<double>(resolution);
    realtime -= static_cast<std::uint64_t>(std::llround(moved_ns));
  }
  offset = begin;
  length = end - begin;
  return true;
}

/// The payload in the old widths; if only the length field outgrew its bytes by one and the real
/// time is undefined, that field's byte is spent on it. Nothing if neither fits.
std::optional<std::vector<std::uint8_t>> encode_in_place(const ClockRecord& clock,
                                                         bool big_endian) {
  std::vector<std::uint8_t> bytes;
  const bool spare = clock.fields == 4 && clock.values[3] == k_undefined;
  const bool spend = spare && !padded(clock.values[2], clock.widths[2], big_endian);
  for (std::size_t i = 0; i < clock.fields; ++i) {
    if (i == 3 && clock.values[3] == k_undefined) {
      if (!spend) bytes.push_back(0xFF);
      continue;
    }
    const auto field =
        padded(clock.values[i], clock.widths[i] + (i == 2 && spend ? 1 : 0), big_endian);
    if (!field) return std::nullopt;
    bytes.insert(bytes.end(), field->begin(), field->end());
  }
  return bytes;
}

std::vector<std::uint8_t> encode_anew(const ClockRecord& clock, bool big_endian) {
  Fields fields(big_endian);
  for (std::size_t i = 0; i < clock.fields; ++i) fields.c64(clock.values[i]);
  return fields.take();
}

std::vector<std::uint8_t> encode(const trace::ClockOffset& offset, bool big_endian) {
  Fields fields(big_endian);
  fields.fixed64(offset.time).s64(offset.offset);
  return fields.fixed64(std::bit_cast<std::uint64_t>(offset.stddev)).take();
}

/// Replaces the payload bytes of record `index` inside the bytes of the file it came from.
void patch(std::vector<std::uint8_t>& bytes, const DefinitionFile& file, std::size_t index,
           std::span<const std::uint8_t> payload) {
  std::copy(payload.begin(), payload.end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(file.records[index].file_offset));
}

/// True if no reader refuses the ClockOffset records of the file for their order.
bool offsets_in_order(const DefinitionFile& file) {
  std::vector<trace::ClockOffset> offsets;
  for (const DefinitionRecord& record : file.records) {
    if (record.type != def::local_clock_offset) continue;
    FieldReader in(record.payload.data(), record.payload.size(), file.big_endian);
    offsets.push_back({.time = in.fixed64()});
  }
  return trace::in_order(offsets);
}

Result<std::vector<std::uint8_t>> whole_file(const fs::path& path) {
  return read_file(path, k_largest_definition_file);
}

}  // namespace

Result<void> write_global_definitions(const fs::path& from, const fs::path& to,
                                      std::uint64_t chunk_size, std::int64_t first,
                                      std::int64_t last) {
  TRY_ASSIGN(DefinitionFile file, read_definition_file(from, chunk_size));
  TRY_ASSIGN(auto bytes, whole_file(from));
  bool pack = false;
  for (std::size_t i = 0; i < file.records.size(); ++i) {
    DefinitionRecord& record = file.records[i];
    if (record.type != def::clock_properties) continue;
    ClockRecord clock = decode_clock(record, file.big_endian);
    if (!widen(clock, first, last)) continue;
    if (const auto payload = encode_in_place(clock, file.big_endian)) {
      patch(bytes, file, i, *payload);
      record.payload = *payload;
    } else {
      record.payload = encode_anew(clock, file.big_endian);
      pack = true;
    }
  }
  if (pack) {
    TRY_ASSIGN(bytes, pack_definition_file(file, chunk_size, from));
  }
  return write_file(to, bytes);
}

Result<void> write_neutral_definitions(const fs::path& from, const fs::path& to,
                                       std::uint64_t chunk_size) {
  if (!file_exists(from)) return {};
  TRY_ASSIGN(const DefinitionFile file, read_definition_file(from, chunk_size));
  if (!offsets_in_order(file)) {
    return write_local_definitions(from, to, chunk_size, file.big_endian, {});
  }
  TRY_ASSIGN(auto bytes, whole_file(from));
  for (const DefinitionRecord& record : file.records) {
    if (record.type != def::local_clock_offset || record.payload.size() < 9) continue;
    auto* const size = bytes.data() + record.file_offset + 8;
    if (*size == 0xFF) {
      *size = 0;
    } else {
      std::fill_n(size + 1, std::min<std::size_t>(*size, record.payload.size() - 9),
                  std::uint8_t{0});
    }
  }
  return write_file(to, bytes);
}

Result<void> write_local_definitions(const fs::path& from, const fs::path& to,
                                     std::uint64_t chunk_size, bool big_endian,
                                     std::span<const trace::ClockOffset> offsets) {
  TRY_ASSIGN(auto file, read_definition_file_if_any(from, chunk_size));
  return write_local_definitions(std::move(file), {from, chunk_size}, to, big_endian, offsets);
}

Result<void> write_local_definitions(std::optional<DefinitionFile> file, const ChunkedPath& from,
                                     const fs::path& to, bool big_endian,
                                     std::span<const trace::ClockOffset> offsets) {
  const bool exists = file.has_value();
  if (!exists && offsets.empty()) return {};
  DefinitionFile definitions;
  definitions.big_endian = big_endian;
  if (exists) definitions = *std::move(file);
  std::vector<std::vector<std::uint8_t>> encoded;
  for (const trace::ClockOffset& offset : offsets)
    encoded.push_back(encode(offset, definitions.big_endian));
  const auto is_offset = [](const DefinitionRecord& r) {
    return r.type == def::local_clock_offset;
  };
  std::vector<std::vector<std::uint8_t>> old;
  for (const DefinitionRecord& record : definitions.records) {
    if (is_offset(record)) old.push_back(record.payload);
  }
  if (old == encoded && exists) return duplicate_file(from.path, to);
  std::erase_if(definitions.records, is_offset);
  for (auto& payload : encoded) {
    definitions.records.push_back({def::local_clock_offset, 0, std::move(payload)});
  }
  TRY_ASSIGN(const auto bytes, pack_definition_file(definitions, from.chunk_size, from.path));
  return write_file(to, bytes);
}

namespace {

struct Marker {
  LocationIndex location = k_none;
  std::uint64_t time = 0, duration = 0;
  std::span<const std::uint8_t> rest;  ///< payload after the times
};

/// Decodes the markers of an archive.
class MarkerReader {
 public:
  explicit MarkerReader(const Archive& archive) : path_(archive.marker_file()) {
    for (const trace::Location& location : archive.definitions().locations) {
      locations_.emplace(location.id, static_cast<LocationIndex>(locations_.size()));
    }
  }

  Result<Marker> operator()(const DefinitionRecord& record, bool big_endian) const {
    FieldReader in(record.payload.data(), record.payload.size(), big_endian);
    Marker marker;
    marker.time = in.c64();
    marker.duration = in.c64();
    marker.rest = {in.position(), in.left()};
    in.c32();  // marker
    const std::uint8_t scope = in.u8();
    const std::uint64_t reference = in.c64();
    if (!in.ok()) {
      return fail(ErrorKind::input, fmt::format("{} is damaged: a marker record is too short; "
                                                "restore the file",
                                                path_.string()));
    }
    const auto found = locations_.find(reference);
    if (scope == k_scope_location && found != locations_.end()) marker.location = found->second;
    return marker;
  }

 private:
  fs::path path_;
  std::unordered_map<std::uint64_t, LocationIndex> locations_;
};

}  // namespace

Result<std::vector<MarkerTime>> read_marker_times(const Archive& archive) {
  std::vector<MarkerTime> times;
  if (!file_exists(archive.marker_file())) return times;
  TRY_ASSIGN(const DefinitionFile file,
             read_definition_file(archive.marker_file(), archive.anchor().definition_chunk_size));
  const MarkerReader read(archive);
  for (const DefinitionRecord& record : file.records) {
    if (record.type != k_marker_record) continue;
    TRY_ASSIGN(const Marker marker, read(record, file.big_endian));
    times.push_back({marker.location, marker.time});
    times.push_back({marker.location, marker.time + marker.duration});
  }
  return times;
}

Result<void> write_markers(const Archive& archive, const fs::path& to,
                           std::span<const std::int64_t> times) {
  const fs::path from = archive.marker_file();
  if (!file_exists(from)) return {};
  const std::uint64_t chunk_size = archive.anchor().definition_chunk_size;
  TRY_ASSIGN(DefinitionFile file, read_definition_file(from, chunk_size));
  const MarkerReader read(archive);
  bool changed = false;
  std::size_t next = 0;
  for (DefinitionRecord& record : file.records) {
    if (record.type != k_marker_record || next + 2 > times.size()) continue;
    TRY_ASSIGN(const Marker marker, read(record, file.big_endian));
    const auto begin = static_cast<std::uint64_t>(std::max<std::int64_t>(times[next++], 0));
    const auto end = static_cast<std::uint64_t>(std::max<std::int64_t>(times[next++], 0));
    const std::uint64_t duration = marker.duration == 0 ? 0 : std::max(end, begin) - begin;
    if (begin == marker.time && duration == marker.duration) continue;
    record.payload = Fields(file.big_endian).c64(begin).c64(duration).append(marker.rest).take();
    changed = true;
  }
  if (!changed) return duplicate_file(from, to);
  TRY_ASSIGN(const auto bytes, pack_definition_file(file, chunk_size, from));
  return write_file(to, bytes);
}

}  // namespace entrain::otf2
