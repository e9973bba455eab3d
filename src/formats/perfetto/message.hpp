// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <protozero/exception.hpp>
#include <protozero/types.hpp>
#include <protozero/varint.hpp>

namespace entrain::perfetto {

/// Value of a field of a message. A field with another wire type than expected has the value 0 and
/// no bytes.
struct Value {
  std::uint64_t number = 0;     ///< varint, or a number of fixed size
  std::string_view bytes;       ///< string or message
  const char* at = nullptr;     ///< position of its varint, or of its length's
  std::uint8_t width = 0;       ///< size of this varint, bytes; 0: of fixed size
  std::uint8_t fixed_size = 0;  ///< size of a number of fixed size, bytes

  [[nodiscard]] std::int64_t integer() const { return static_cast<std::int64_t>(number); }
  [[nodiscard]] double real() const { return std::bit_cast<double>(number); }
  [[nodiscard]] std::uint32_t small() const { return static_cast<std::uint32_t>(number); }
};

/// Takes a varint off the front of a text. Throws as protozero::decode_varint().
inline std::uint64_t take_varint(const char*& at, const char* end) {
  constexpr std::uint64_t k_more = 0x80;
  if (end - at >= 2) {  // most have one byte or two
    const std::uint64_t low = static_cast<unsigned char>(at[0]);
    const std::uint64_t high = static_cast<unsigned char>(at[1]);
    const bool is_one = low < k_more;
    if (is_one || high < k_more) {
      at += is_one ? 1 : 2;
      return is_one ? low : (low & ~k_more) | high << 7;
    }
  }
  return protozero::decode_varint(&at, end);
}

/// Takes so many bytes. Throws if the text is shorter.
inline std::string_view take_bytes(const char*& at, const char* end, std::uint32_t size) {
  if (end - at < std::ptrdiff_t{size}) throw protozero::end_of_buffer_exception();
  const std::string_view bytes(at, size);
  at += size;
  return bytes;
}

/// A number of fixed size, which begins with its lowest byte.
template <class Number>
Number fixed_number(std::string_view bytes) {
  Number number = 0;
  for (std::size_t i = sizeof number; i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

/// Calls `see(field, value)` for each field of a message. Throws protozero::exception for bytes
/// that are no message: as protozero::pbf_reader, of which it is a shorter way through.
template <class Field = std::uint32_t, class See>
void for_each_field(std::string_view message, const See& see) {
  const char* at = message.data();
  const char* const end = at + message.size();
  while (at != end) {
    const auto head = static_cast<std::uint32_t>(take_varint(at, end));
    const std::uint32_t tag = head >> 3;
    if (tag == 0 || (tag >= 19000 && tag <= 19999)) throw protozero::invalid_tag_exception();
    Value value;
    value.at = at;
    switch (static_cast<protozero::pbf_wire_type>(head & 7)) {
      case protozero::pbf_wire_type::varint:
        value.number = take_varint(at, end);
        value.width = static_cast<std::uint8_t>(at - value.at);
        break;
      case protozero::pbf_wire_type::length_delimited: {
        const auto size = static_cast<std::uint32_t>(take_varint(at, end));
        value.width = static_cast<std::uint8_t>(at - value.at);
        value.bytes = take_bytes(at, end, size);
        break;
      }
      case protozero::pbf_wire_type::fixed64:
        value.number = fixed_number<std::uint64_t>(take_bytes(at, end, sizeof(std::uint64_t)));
        value.fixed_size = sizeof(std::uint64_t);
        break;
      case protozero::pbf_wire_type::fixed32:
        value.number = fixed_number<std::uint32_t>(take_bytes(at, end, sizeof(std::uint32_t)));
        value.fixed_size = sizeof(std::uint32_t);
        break;
      default:
        throw protozero::unknown_pbf_wire_type_exception();
    }
    see(static_cast<Field>(tag), value);
  }
}

/// Calls `see(number)` for the elements of a repeated field of varints, or of fixed 64 bits, that
/// is packed or not.
template <class See>
void for_each_number(const Value& value, bool is_fixed, const See& see) {
  if (value.bytes.data() == nullptr) return see(value.number);
  const char* at = value.bytes.data();
  const char* const end = at + value.bytes.size();
  while (at < end) {
    see(is_fixed ? fixed_number<std::uint64_t>(take_bytes(at, end, sizeof(std::uint64_t)))
                 : take_varint(at, end));
  }
}

}  // namespace entrain::perfetto
