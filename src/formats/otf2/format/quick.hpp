// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

// Tools for visitors that hurry (walk.hpp): tables that tell plain records from others with one
// look at type and length, and a reader of fields without checks.

/// Per record type: a record whose length byte is below this number may be passed over; 0: none.
/// For example 9 for Enter, a bare integer of at most 8 bytes, and 255 for mpi_send.
using LengthLimits = std::array<std::uint16_t, 256>;

/// Records whose end follows from type and length byte alone: not marks, stamps, records with a
/// long length, nor bare integers that are undefined or too long.
constexpr LengthLimits plain_records() {
  LengthLimits limits{};
  for (unsigned type = 0; type < limits.size(); ++type) {
    limits[type] = is_bare(static_cast<std::uint8_t>(type)) ? 9 : 0xFF;
  }
  for (const std::uint8_t type : {mark::end_of_chunk, mark::end_of_buffer, mark::end_of_file,
                                  mark::chunk_header, mark::stamp}) {
    limits[type] = 0;
  }
  return limits;
}

/// `limits`, with no records of these types allowed.
constexpr LengthLimits except(LengthLimits limits, std::initializer_list<std::uint8_t> types) {
  for (const std::uint8_t type : types) limits[type] = 0;
  return limits;
}

inline constexpr LengthLimits k_plain_records = plain_records();
/// Plain records that hold no time.
inline constexpr LengthLimits k_timeless_records = except(k_plain_records, {event::buffer_flush});

/// The lowest n bytes of an integer, for n up to 8.
inline constexpr std::array<std::uint64_t, 9> k_low_bytes = [] {
  std::array<std::uint64_t, 9> masks{};
  for (std::size_t n = 1; n < masks.size(); ++n) masks[n] = masks[n - 1] << 8 | 0xFF;
  return masks;
}();

/// A FieldReader for little-endian payloads without checks of the end. The caller guarantees that
/// 9 bytes per field can be read, even after the end of the payload. If the payload is wrong, the
/// values differ from those of FieldReader, but after all fields ok() is the same.
class QuickFields {
 public:
  QuickFields(const std::uint8_t* begin, std::size_t size) : at_(begin), end_(begin + size) {}

  [[nodiscard]] bool ok() const { return !wrong_ && at_ <= end_; }

  std::uint8_t u8() { return *at_++; }
  std::uint32_t c32() { return static_cast<std::uint32_t>(compressed(4)); }
  std::uint64_t c64() { return compressed(8); }
  std::uint64_t fixed64() {
    at_ += 8;
    return load_u64(at_ - 8, false);
  }

 private:
  std::uint64_t compressed(unsigned widest) {
    const unsigned size = *at_++;
    if (size > widest) {
      wrong_ |= size != 0xFF;
      return ~std::uint64_t{0};
    }
    const std::uint64_t value = load_u64(at_, false) & k_low_bytes[size];
    at_ += size;
    return value;
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool wrong_ = false;
};

}  // namespace entrain::otf2
