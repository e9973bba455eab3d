// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/retime.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>

#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t k_undefined = ~std::uint64_t{0};
constexpr std::uint8_t k_marker_record = 6;
constexpr std::uint8_t k_scope_location = 1;

using Payload = std::optional<std::vector<std::uint8_t>>;

/// A ClockProperties record whose range holds the times; nothing if the old one does.
Payload widened(const DefinitionRecord& record, bool big_endian, const NewNumbers& numbers) {
  std::array<std::uint64_t, 4> values{0, 0, 0, k_undefined};
  std::size_t fields = 0;  // 3 before OTF2 3.0
  FieldReader in(record.payload.data(), record.payload.size(), big_endian);
  while (fields < values.size() && in.left() > 0) values[fields++] = in.c64();
  auto& [resolution, offset, length, realtime] = values;
  const auto time = [](std::int64_t t) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(t, 0));
  };
  const std::uint64_t begin = std::min(offset, time(numbers.first));
  const std::uint64_t old_end = length > k_undefined - offset ? k_undefined : offset + length;
  const std::uint64_t end = std::max(old_end, time(numbers.last));
  if (begin == offset && end - begin == length) return std::nullopt;
  if (realtime != k_undefined && begin != offset) {
    const double moved_ns =
        static_cast<double>(offset - begin) * 1e9 / static_cast<double>(resolution);
    realtime -= static_cast<std::uint64_t>(std::llround(moved_ns));
  }
  offset = begin;
  length = end - begin;
  Fields out(big_endian);
  for (std::size_t i = 0; i < fields; ++i) out.c64(values[i]);
  return out.take();
}

/// A Location record with the new number of its events; nothing if it has none.
Result<Payload> with_events(const DefinitionRecord& record, bool big_endian, const fs::path& file,
                            const NewNumbers& numbers) {
  FieldReader in(record.payload.data(), record.payload.size(), big_endian);
  Fields out(big_endian);
  const std::uint64_t id = in.c64();
  out.c64(id).c32(in.c32()).u8(in.u8());  // name, type
  in.c64();
  if (!in.ok()) {
    return input_error("{} is damaged: a location is too short; restore the file", file.string());
  }
  const auto count = numbers.events.find(id);
  if (count == numbers.events.end()) return Payload();
  return Payload(out.c64(count->second).append({in.position(), in.left()}).take());
}

std::vector<std::uint8_t> encode(const trace::ClockOffset& offset, bool big_endian) {
  Fields fields(big_endian);
  fields.fixed64(offset.time).s64(offset.offset);
  return fields.fixed64(std::bit_cast<std::uint64_t>(offset.stddev)).take();
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

Result<void> write_definitions(const DefinitionFile& file, const ChunkedPath& from,
                               const fs::path& to) {
  TRY_ASSIGN(const auto bytes, pack_definition_file(file, from.chunk_size, from.path));
  return write_file(to, bytes);
}

bool is_clock_offset(const DefinitionRecord& record) {
  return record.type == def::local_clock_offset;
}

struct Marker {
  LocationIndex location = k_none;
  std::uint64_t time = 0, duration = 0;
  std::span<const std::uint8_t> rest;  ///< payload after the times
};

/// Decodes the markers of an archive.
class MarkerReader {
 public:
  explicit MarkerReader(const Archive& archive) : path_(archive.marker_file()) {
    for (const LocationIndex l : archive.locations()) locations_.emplace(archive.id_of(l), l);
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
      return input_error("{} is damaged: a marker record is too short; restore the file",
                         path_.string());
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

Result<void> write_global_definitions(const ChunkedPath& from, const fs::path& to,
                                      const NewNumbers& numbers) {
  TRY_ASSIGN(DefinitionFile file, read_definition_file(from.path, from.chunk_size));
  bool changed = false;
  for (DefinitionRecord& record : file.records) {
    std::optional<std::vector<std::uint8_t>> payload;
    if (record.type == def::clock_properties) {
      payload = widened(record, file.big_endian, numbers);
    } else if (record.type == def::location && !numbers.events.empty()) {
      TRY_ASSIGN(payload, with_events(record, file.big_endian, from.path, numbers));
    }
    if (!payload) continue;
    record.payload = *std::move(payload);
    changed = true;
  }
  return changed ? write_definitions(file, from, to) : duplicate_file(from.path, to);
}

Result<void> write_neutral_definitions(std::optional<DefinitionFile> file, const ChunkedPath& from,
                                       const fs::path& to) {
  if (!file) return {};
  if (std::ranges::none_of(file->records, is_clock_offset)) return duplicate_file(from.path, to);
  if (!offsets_in_order(*file)) {
    return write_local_definitions(std::move(file), from, to, false, {});
  }
  for (DefinitionRecord& record : file->records) {
    if (!is_clock_offset(record) || record.payload.size() < 9) continue;
    std::uint8_t& size = record.payload[8];
    if (size == 0xFF) {
      size = 0;
    } else {
      std::fill_n(record.payload.begin() + 9,
                  std::min<std::size_t>(size, record.payload.size() - 9), std::uint8_t{0});
    }
  }
  return write_definitions(*file, from, to);
}

Result<void> write_local_definitions(std::optional<DefinitionFile> file, const ChunkedPath& from,
                                     const fs::path& to, bool big_endian,
                                     std::span<const trace::ClockOffset> offsets) {
  const bool exists = file.has_value();
  if (!exists && offsets.empty()) return {};
  DefinitionFile definitions = std::move(file).value_or(DefinitionFile{.big_endian = big_endian});
  std::vector<DefinitionRecord> records;
  for (const trace::ClockOffset& offset : offsets) {
    records.push_back({def::local_clock_offset, encode(offset, definitions.big_endian)});
  }
  std::vector<DefinitionRecord> old;
  std::ranges::copy_if(definitions.records, std::back_inserter(old), is_clock_offset);
  if (old == records && exists) return duplicate_file(from.path, to);
  std::erase_if(definitions.records, is_clock_offset);
  definitions.records.insert(definitions.records.end(), records.begin(), records.end());
  return write_definitions(definitions, from, to);
}

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
  return changed ? write_definitions(file, {from, chunk_size}, to) : duplicate_file(from, to);
}

}  // namespace entrain::otf2
