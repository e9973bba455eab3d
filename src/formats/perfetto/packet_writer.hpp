// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <protozero/types.hpp>
#include <protozero/varint.hpp>

#include "formats/perfetto/fields.hpp"

/// Writes packets of Perfetto's traces.
namespace entrain::perfetto {

// Fields of a message, appended to `out`.

inline void add_varint(std::string& out, std::uint64_t value) {
  std::array<char, protozero::max_varint_length> bytes{};
  const int size = protozero::add_varint_to_buffer(bytes.data(), value);
  out.append(bytes.data(), static_cast<std::size_t>(size));  // at once: each append checks for room
}
template <class Field>
void add_key(std::string& out, Field field, protozero::pbf_wire_type type) {
  add_varint(out, static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(type));
}
/// A number, also of an enumeration; negative ones as 64-bit two's complement.
template <class Field>
void add_number(std::string& out, Field field, std::uint64_t value) {
  add_key(out, field, protozero::pbf_wire_type::varint);
  add_varint(out, value);
}
template <class Field>
void add_integer(std::string& out, Field field, std::int64_t value) {
  add_number(out, field, static_cast<std::uint64_t>(value));
}
template <class Field>
void add_fixed(std::string& out, Field field, std::uint64_t value) {
  add_key(out, field, protozero::pbf_wire_type::fixed64);
  std::array<char, sizeof value> bytes{};
  for (char& byte : bytes) byte = static_cast<char>(value & 0xFF), value >>= 8;
  out.append(bytes.data(), bytes.size());
}
template <class Field>
void add_double(std::string& out, Field field, double value) {
  add_fixed(out, field, std::bit_cast<std::uint64_t>(value));
}
/// A text, or a whole message.
template <class Field>
void add_bytes(std::string& out, Field field, std::string_view bytes) {
  add_key(out, field, protozero::pbf_wire_type::length_delimited);
  add_varint(out, bytes.size());
  out += bytes;
}
/// A message to which `fill(out)` adds the fields.
template <class Field, class Fill>
void add_message(std::string& out, Field field, Fill fill) {
  add_key(out, field, protozero::pbf_wire_type::length_delimited);
  const std::size_t at = out.size();
  out += '\0';
  fill(out);
  std::size_t size = out.size() - at - 1;
  const auto more = static_cast<std::size_t>(protozero::length_of_varint(size)) - 1;
  if (more > 0) out.insert(at, more, '\0');  // most messages are shorter than 128 bytes
  char* const length = out.data() + at;
  for (std::size_t byte = 0; byte < more; ++byte, size >>= 7) {
    length[byte] = static_cast<char>(size | 0x80);
  }
  length[more] = static_cast<char>(size);
}

/// Texts that packets of a sequence refer to by their numbers.
class InternedNames {
 public:
  /// The number of a text, 1 or more; 0 if the table is full, or hostile texts share a hash.
  std::uint64_t number(std::string_view text);
  [[nodiscard]] const std::vector<std::string>& all() const { return all_; }

 private:
  static constexpr std::size_t k_slots = std::size_t{1} << 16;
  static constexpr std::size_t k_most_bytes = std::size_t{1} << 24;

  std::uint32_t find(std::string_view text);

  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(k_slots);  ///< numbers; 0: free
  std::vector<std::string> all_;
  std::vector<std::uint32_t> after_{0};  ///< number that followed each one the last time
  std::uint32_t last_ = 0;               ///< the last result
  std::size_t bytes_ = 0;
};

/// Writes the packets of a sequence.
class PacketWriter {
 public:
  /// Appends to `out`, which must outlive it. `machine`: 0 for the one that has no number.
  PacketWriter(std::string& out, std::uint32_t sequence, std::uint32_t machine = 0);

  /// A packet to which `fill(packet)` adds the fields.
  template <class Fill>
  void packet(Fill fill) {
    packet_ = begin_;
    fill(packet_);
    add_bytes(out_, TraceField::packet, packet_);
  }
  /// The first packet of a trace, with the mark of its file.
  void mark(std::string_view text);
  /// The packet with the names of the sequence, to which `fill(data)` adds the tables.
  template <class Fill>
  void names(Fill fill) {
    packet([&](std::string& packet) {
      add_number(packet, PacketField::sequence_flags, k_state_cleared);
      add_message(packet, PacketField::interned_data, fill);
    });
  }
  /// A track; `parent`: 0 for none; `more`: further fields of its description.
  void track(std::uint64_t uuid, std::uint64_t parent, std::string_view name,
             std::string_view more = {});
  /// An event; `fields`: further fields.
  void event(std::uint64_t track, std::uint64_t ns, std::int32_t type, std::string_view fields);

 private:
  std::string& out_;
  std::string begin_;  ///< fields of every packet
  std::string packet_;
};

/// Adds a name to a table of PacketWriter::names().
void add_name(std::string& data, InternedField table, std::uint64_t number, std::string_view name);

}  // namespace entrain::perfetto
