// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/format/anchor.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "base/try.hpp"
#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

namespace {

constexpr std::uint8_t k_posix_substrate = 1, k_sion_substrate = 2;
constexpr std::uint8_t k_no_compression = 1;
constexpr std::uint8_t k_newest_format = 3;  ///< newest version of anchors and of traces
/// Version of OTF2 that wrote the archive: the release whose records are written here.
constexpr std::array<std::uint8_t, 3> k_otf2_version{3, 0, 0};

void append_properties(Fields& out, std::span<const trace::Property> properties) {
  out.fixed32(static_cast<std::uint32_t>(properties.size()));
  for (const trace::Property& property : properties) out.text(property.name).text(property.value);
}

bool has_zero_byte(const Anchor& anchor) {
  const auto has = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  return has(anchor.machine) || has(anchor.creator) || has(anchor.description) ||
         std::ranges::any_of(anchor.properties,
                             [&](const auto& one) { return has(one.name) || has(one.value); });
}

bool is_chunk_size(std::uint64_t size) {
  return size >= k_min_chunk_size && size <= k_max_chunk_size;
}

/// Why our own scanner cannot read the archive; empty: it can.
std::string foreign(std::uint8_t format, std::uint8_t trace_format, std::uint8_t substrate) {
  if (substrate == k_sion_substrate) return "uses the SIONlib substrate";
  if (substrate != k_posix_substrate) return fmt::format("uses substrate {}", substrate);
  if (format > k_newest_format) return fmt::format("has anchor format {}", format);
  if (trace_format > k_newest_format) return fmt::format("has trace format {}", trace_format);
  return {};
}

}  // namespace

Result<Anchor> parse_anchor(std::span<const std::uint8_t> bytes,
                            const std::filesystem::path& path) {
  const auto problem = [&](std::string_view what) {
    return input_error("{}: {}", path.string(), what);
  };
  if (bytes.empty()) return problem("this is no anchor file of an OTF2 archive: it is empty");
  if (bytes.size() < 8 || bytes[0] != mark::chunk_header ||
      (bytes[1] != k_little_endian && bytes[1] != k_big_endian) ||
      std::memcmp(bytes.data() + 2, "OTF2", 5) != 0) {
    return problem("this is not the anchor file of an OTF2 archive; name the .otf2 file");
  }
  Anchor anchor;
  anchor.big_endian = bytes[1] == k_big_endian;
  constexpr std::size_t k_head = 7;
  FieldReader in(bytes.data() + k_head, bytes.size() - k_head, anchor.big_endian);
  const auto position = [&] { return bytes.size() - in.left(); };
  const std::uint8_t format = in.u8();
  anchor.trace_format = in.u8();
  for (std::size_t part = 0; part < k_otf2_version.size(); ++part) in.u8();
  anchor.event_chunk_size = in.fixed64();
  anchor.definition_chunk_size = in.fixed64();
  const std::uint8_t substrate = in.u8();
  const std::uint8_t compression = in.u8();
  anchor.location_count = in.fixed64();
  anchor.definition_count = in.fixed64();
  anchor.machine = in.text();
  anchor.creator = in.text();
  anchor.description = in.text();
  if (!in.ok()) return problem("the anchor file ends too early; restore it");
  if (compression != k_no_compression) {
    return problem("the archive is compressed, which no version of OTF2 can read back");
  }
  if (const std::string why = foreign(format, anchor.trace_format, substrate); !why.empty()) {
    return problem(
        fmt::format("the archive {}, which is not read; convert it to the POSIX substrate "
                    "and trace format 2 or 3",
                    why));
  }
  if (!is_chunk_size(anchor.event_chunk_size) || !is_chunk_size(anchor.definition_chunk_size)) {
    return problem("the anchor file is damaged: impossible chunk sizes; restore it");
  }
  if (format >= 2) {
    anchor.properties_begin = position();
    const std::uint32_t count = in.fixed32();
    for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
      std::string name = in.text();
      anchor.properties.push_back({std::move(name), in.text()});
    }
    anchor.properties_end = position();
    anchor.trace_id = in.fixed64();
  }
  if (format >= 3) {
    anchor.snapshot_count = in.fixed32();
    anchor.thumbnail_count = in.fixed32();
  }
  // Other readers refuse an anchor without its end mark, so a copy of it would be no archive.
  const bool whole = in.u8() == mark::end_of_file;
  if (!in.ok() || !whole) return problem("the anchor file ends too early; restore it");
  return anchor;
}

Result<std::vector<std::uint8_t>> pack_anchor(const Anchor& anchor) {
  if (has_zero_byte(anchor)) {
    return output_error("a text of the archive holds a zero byte; leave it out");
  }
  Fields out;
  out.u8(mark::chunk_header).u8(k_little_endian).text("OTF2");
  out.u8(k_newest_format).u8(anchor.trace_format).append(k_otf2_version);
  out.fixed64(anchor.event_chunk_size).fixed64(anchor.definition_chunk_size);
  out.u8(k_posix_substrate).u8(k_no_compression);
  out.fixed64(anchor.location_count).fixed64(anchor.definition_count);
  out.text(anchor.machine).text(anchor.creator).text(anchor.description);
  append_properties(out, anchor.properties);
  out.fixed64(anchor.trace_id).fixed32(anchor.snapshot_count).fixed32(anchor.thumbnail_count);
  return out.u8(mark::end_of_file).u8(mark::end_of_buffer).u8(mark::end_of_chunk).take();
}

std::vector<std::uint8_t> with_properties(std::span<const std::uint8_t> bytes, const Anchor& anchor,
                                          std::span<const trace::Property> properties,
                                          const std::string& removed) {
  const std::vector<std::uint8_t> unchanged(bytes.begin(), bytes.end());
  if (anchor.properties_end == 0) return unchanged;
  std::vector<trace::Property> all = anchor.properties;
  if (!removed.empty()) {
    std::erase_if(all, [&](const auto& property) { return property.name.starts_with(removed); });
  }
  if (properties.empty() && all.size() == anchor.properties.size()) return unchanged;
  for (const trace::Property& property : properties) {
    const auto same = std::ranges::find(all, property.name, &trace::Property::name);
    if (same != all.end()) {
      same->value = property.value;
    } else {
      all.push_back(property);
    }
  }
  Fields result(anchor.big_endian);
  result.append(bytes.first(anchor.properties_begin));
  append_properties(result, all);
  return result.append(bytes.subspan(anchor.properties_end)).take();
}

}  // namespace entrain::otf2
