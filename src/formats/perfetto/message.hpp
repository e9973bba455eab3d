// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

namespace entrain::perfetto {

/// Value of a field of a message. A field with another wire type than expected has the value 0 and
/// no bytes.
struct Value {
  std::uint64_t number = 0;     ///< varint, or a number of fixed size
  std::string_view bytes;       ///< string or message
  const char* at = nullptr;     ///< where its varint, or that of its length, begins
  std::uint8_t width = 0;       ///< size of this varint, bytes; 0: of fixed size
  std::uint8_t fixed_size = 0;  ///< size of a number of fixed size, bytes

  [[nodiscard]] std::int64_t integer() const { return static_cast<std::int64_t>(number); }
  [[nodiscard]] double real() const { return std::bit_cast<double>(number); }
  [[nodiscard]] std::uint32_t small() const { return static_cast<std::uint32_t>(number); }
};

/// Calls `see(field, value)` for each field of a message. Throws protozero::exception for bytes
/// that are no message.
template <class Field, class See>
void for_each_field(std::string_view message, const See& see) {
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    const auto field = static_cast<Field>(reader.tag());
    Value value;
    value.at = reader.data().data();
    switch (reader.wire_type()) {
      case protozero::pbf_wire_type::varint:
        value.number = reader.get_uint64();
        value.width = static_cast<std::uint8_t>(reader.data().data() - value.at);
        break;
      case protozero::pbf_wire_type::length_delimited: {
        const protozero::data_view view = reader.get_view();
        value.bytes = {view.data(), view.size()};
        value.width = static_cast<std::uint8_t>(view.data() - value.at);
        break;
      }
      case protozero::pbf_wire_type::fixed64:
        value.number = reader.get_fixed64();
        value.fixed_size = sizeof(std::uint64_t);
        break;
      default:
        value.number = reader.get_fixed32();
        value.fixed_size = sizeof(std::uint32_t);
        break;
    }
    see(field, value);
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
    if (!is_fixed) {
      see(protozero::decode_varint(&at, end));
    } else {
      std::uint64_t number = 0;
      if (end - at < std::ptrdiff_t{sizeof number}) throw protozero::end_of_buffer_exception();
      for (std::size_t i = sizeof number; i-- > 0;) {
        number = number << 8 | static_cast<unsigned char>(at[i]);
      }
      at += sizeof number;
      see(number);
    }
  }
}

}  // namespace entrain::perfetto
