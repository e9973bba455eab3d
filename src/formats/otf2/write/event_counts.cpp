// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/write/event_counts.hpp"

#include <array>
#include <optional>
#include <vector>

#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/format/definition_file.hpp"
#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

namespace {

/// Where the number of events stands in the payload of a Location.
struct CountField {
  std::uint64_t id = 0;
  std::ptrdiff_t begin = 0, end = 0;
};

std::optional<CountField> find_count(const std::vector<std::uint8_t>& payload, bool big_endian) {
  FieldReader in(payload.data(), payload.size(), big_endian);
  CountField field;
  field.id = in.c64();
  in.c32();  // name
  in.u8();   // type
  field.begin = in.position() - payload.data();
  in.c64();
  field.end = in.position() - payload.data();
  if (!in.ok()) return std::nullopt;
  return field;
}

void replace(std::vector<std::uint8_t>& payload, const CountField& field, std::uint64_t count,
             bool big_endian) {
  std::array<std::uint8_t, 9> encoded{};
  const auto size =
      static_cast<std::ptrdiff_t>(store_compressed(encoded.data(), count, big_endian));
  const auto at = payload.erase(payload.begin() + field.begin, payload.begin() + field.end);
  payload.insert(at, encoded.begin(), encoded.begin() + size);
}

}  // namespace

Result<void> write_event_counts(const std::filesystem::path& from, const std::filesystem::path& to,
                                std::uint64_t chunk_size,
                                const std::unordered_map<std::uint64_t, std::uint64_t>& counts) {
  TRY_ASSIGN(DefinitionFile file, read_definition_file(from, chunk_size));
  for (DefinitionRecord& record : file.records) {
    if (record.type != def::location) continue;
    const auto field = find_count(record.payload, file.big_endian);
    if (!field) return damaged(from, record.file_offset, "a location that is too short");
    const auto count = counts.find(field->id);
    if (count != counts.end()) replace(record.payload, *field, count->second, file.big_endian);
  }
  TRY_ASSIGN(const auto bytes, pack_definition_file(file, chunk_size, from));
  return write_file(to, bytes);
}

}  // namespace entrain::otf2
