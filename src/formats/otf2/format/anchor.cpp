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
constexpr std::uint8_t k_oldest_trace_format = 2, k_newest_format = 3;
/// Version of OTF2 that wrote the archive: the release whose records are written here.
constexpr std::array<std::uint8_t, 3> k_otf2_version{3, 0, 0};

/// Reads the fixed-size fields of an anchor.
class AnchorReader {
 public:
  AnchorReader(std::span<const std::uint8_t> bytes, bool big_endian)
      : bytes_(bytes), big_endian_(big_endian) {}

  void skip(std::size_t n) { at_ = std::min(at_ + n, bytes_.size() + 1); }
  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() { return number(8); }
  std::string string() {
    const auto* begin = bytes_.data() + std::min(at_, bytes_.size());
    const auto* end = std::find(begin, bytes_.data() + bytes_.size(), std::uint8_t{0});
    if (end == bytes_.data() + bytes_.size()) {
      at_ = bytes_.size() + 1;
      return {};
    }
    at_ += static_cast<std::size_t>(end - begin) + 1;
    return {begin, end};
  }
  [[nodiscard]] bool ok() const { return at_ <= bytes_.size(); }
  [[nodiscard]] std::size_t position() const { return at_; }

 private:
  std::uint64_t number(std::size_t size) {
    if (at_ > bytes_.size() || bytes_.size() - at_ < size) {
      at_ = bytes_.size() + 1;
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value = value << 8 | bytes_[at_ + (big_endian_ ? i : size - 1 - i)];
    }
    at_ += size;
    return value;
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  bool big_endian_;
};

/// Writes the fields of an anchor.
class AnchorWriter {
 public:
  explicit AnchorWriter(bool big_endian) : big_endian_(big_endian) {}

  AnchorWriter& number(std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t byte = big_endian_ ? size - 1 - i : i;
      bytes_.push_back(static_cast<std::uint8_t>(value >> 8 * byte));
    }
    return *this;
  }
  AnchorWriter& text(const std::string& value) {
    good_ = good_ && value.find('\0') == std::string::npos;
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return number(0, 1);
  }
  AnchorWriter& properties(std::span<const trace::Property> all) {
    number(all.size(), 4);
    for (const trace::Property& property : all) text(property.name).text(property.value);
    return *this;
  }
  [[nodiscard]] bool good() const { return good_; }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<std::uint8_t> bytes_;
  bool big_endian_;
  bool good_ = true;
};

bool is_chunk_size(std::uint64_t size) {
  return size >= k_min_chunk_size && size <= k_max_chunk_size;
}

/// Why our own scanner cannot read the archive; empty: it can.
std::string foreign(std::uint8_t format, std::uint8_t trace_format, std::uint8_t substrate) {
  if (substrate == k_sion_substrate) return "uses the SIONlib substrate";
  if (substrate != k_posix_substrate) return fmt::format("uses substrate {}", substrate);
  if (format > k_newest_format) return fmt::format("has anchor format {}", format);
  if (trace_format < k_oldest_trace_format || trace_format > k_newest_format) {
    return fmt::format("has trace format {}", trace_format);
  }
  return {};
}

}  // namespace

Result<Anchor> parse_anchor(std::span<const std::uint8_t> bytes,
                            const std::filesystem::path& path) {
  const auto problem = [&](std::string_view what) {
    return fail(ErrorKind::input, fmt::format("{}: {}", path.string(), what));
  };
  if (bytes.size() < 8 || bytes[0] != mark::chunk_header ||
      (bytes[1] != k_little_endian && bytes[1] != k_big_endian) ||
      std::memcmp(bytes.data() + 2, "OTF2", 5) != 0) {
    return problem("this is not the anchor file of an OTF2 archive; name the .otf2 file");
  }
  Anchor anchor;
  anchor.big_endian = bytes[1] == k_big_endian;
  AnchorReader in(bytes, anchor.big_endian);
  in.skip(7);
  const std::uint8_t format = in.u8();
  anchor.trace_format = in.u8();
  in.skip(3);
  anchor.event_chunk_size = in.u64();
  anchor.definition_chunk_size = in.u64();
  const std::uint8_t substrate = in.u8();
  const std::uint8_t compression = in.u8();
  anchor.location_count = in.u64();
  anchor.definition_count = in.u64();
  anchor.machine = in.string();
  anchor.creator = in.string();
  anchor.description = in.string();
  if (!in.ok()) return problem("the anchor file ends too early; restore it");
  if (compression != k_no_compression) {
    return problem("the archive is compressed, which no version of OTF2 can read back");
  }
  anchor.foreign = foreign(format, anchor.trace_format, substrate);
  if (!anchor.foreign.empty()) return anchor;
  if (!is_chunk_size(anchor.event_chunk_size) || !is_chunk_size(anchor.definition_chunk_size)) {
    return problem("the anchor file is damaged: impossible chunk sizes; restore it");
  }
  if (format >= 2) {
    anchor.properties_begin = in.position();
    const std::uint32_t count = in.u32();
    for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
      std::string name = in.string();
      anchor.properties.push_back({std::move(name), in.string()});
    }
    anchor.properties_end = in.position();
    anchor.trace_id = in.u64();
  }
  if (format >= 3) {
    anchor.snapshot_count = in.u32();
    anchor.thumbnail_count = in.u32();
  }
  // Other readers refuse an anchor without its end mark, so a copy of it would be no archive.
  const bool whole = in.u8() == mark::end_of_file;
  if (!in.ok() || !whole) return problem("the anchor file ends too early; restore it");
  return anchor;
}

Result<std::vector<std::uint8_t>> pack_anchor(const Anchor& anchor) {
  AnchorWriter out(false);
  out.number(mark::chunk_header, 1).number(k_little_endian, 1).text("OTF2");
  out.number(k_newest_format, 1).number(anchor.trace_format, 1);
  for (const std::uint8_t part : k_otf2_version) out.number(part, 1);
  out.number(anchor.event_chunk_size, 8).number(anchor.definition_chunk_size, 8);
  out.number(k_posix_substrate, 1).number(k_no_compression, 1);
  out.number(anchor.location_count, 8).number(anchor.definition_count, 8);
  out.text(anchor.machine).text(anchor.creator).text(anchor.description);
  out.properties(anchor.properties);
  out.number(anchor.trace_id, 8).number(anchor.snapshot_count, 4).number(anchor.thumbnail_count, 4);
  out.number(mark::end_of_file, 1).number(mark::end_of_buffer, 1).number(mark::end_of_chunk, 1);
  if (!out.good()) {
    return fail(ErrorKind::output, "a text of the archive holds a zero byte; leave it out");
  }
  return out.take();
}

std::vector<std::uint8_t> with_properties(std::span<const std::uint8_t> bytes, const Anchor& anchor,
                                          std::span<const trace::Property> properties,
                                          const std::string& removed) {
  std::vector<std::uint8_t> result(bytes.begin(), bytes.end());
  if (anchor.properties_end == 0) return result;
  std::vector<trace::Property> all = anchor.properties;
  if (!removed.empty()) {
    std::erase_if(all, [&](const auto& property) { return property.name.starts_with(removed); });
  }
  if (properties.empty() && all.size() == anchor.properties.size()) return result;
  for (const trace::Property& property : properties) {
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const auto& old) { return old.name == property.name; });
    if (same != all.end()) {
      same->value = property.value;
    } else {
      all.push_back(property);
    }
  }
  const std::vector<std::uint8_t> encoded = AnchorWriter(anchor.big_endian).properties(all).take();
  const auto at = [&](std::size_t n) { return result.begin() + static_cast<std::ptrdiff_t>(n); };
  result.erase(at(anchor.properties_begin), at(anchor.properties_end));
  result.insert(at(anchor.properties_begin), encoded.begin(), encoded.end());
  return result;
}

}  // namespace entrain::otf2
