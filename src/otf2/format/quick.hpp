// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "otf2/format/format.hpp"

namespace entrain::otf2 {

// Tools for visitors that hurry (walk.hpp).

/// Per record type: length bytes below this let a record pass; 0 for none.
using LengthLimits = std::array<std::uint16_t, 256>;

/// Records whose end is known from type and length byte alone. Marks, stamps, long lengths, and
/// bare integers that are undefined or too long are none of them.
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

/// `limits` without some types.
constexpr LengthLimits except(LengthLimits limits, std::initializer_list<std::uint8_t> types) {
  for (const std::uint8_t type : types) limits[type] = 0;
  return limits;
}

inline constexpr LengthLimits k_plain_records = plain_records();
/// Those that hold no time.
inline constexpr LengthLimits k_timeless_records = except(k_plain_records, {event::buffer_flush});

/// The lowest n bytes of an integer, for n up to 8.
inline constexpr std::array<std::uint64_t, 9> k_low_bytes = {0,
                                                             0xFF,
                                                             0xFFFF,
                                                             0xFFFFFF,
                                                             0xFFFFFFFF,
                                                             0xFFFFFFFFFF,
                                                             0xFFFFFFFFFFFF,
                                                             0xFFFFFFFFFFFFFF,
                                                             0xFFFFFFFFFFFFFFFF};

/// FieldReader for little-endian payloads behind which much more can be read: up to 9 bytes per
/// field. Yields other nonsense than that one when the payload is wrong, but the same `ok()`, in
/// the end.
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
