// SPDX-License-Identifier: BSD-3-Clause
#include "formats/perfetto/packet_writer.hpp"

#include <functional>

namespace entrain::perfetto {

std::uint64_t InternedNames::number(std::string_view text) {
  // Members of arguments repeat in one order: a comparison is faster than a hash.
  const std::uint32_t guess = after_[last_];
  const std::uint32_t number = guess != 0 && all_[guess - 1] == text ? guess : find(text);
  after_[last_] = number;
  return last_ = number;
}

/// 0 for a text that has no number and gets none.
std::uint32_t InternedNames::find(std::string_view text) {
  constexpr std::size_t k_most_probes = 32;
  const std::size_t hash = std::hash<std::string_view>{}(text);
  for (std::size_t probe = 0; probe < k_most_probes; ++probe) {
    std::uint32_t& slot = slots_[(hash + probe) % k_slots];
    if (slot == 0) {
      if (all_.size() >= k_slots / 2 || bytes_ + text.size() > k_most_bytes) return 0;
      bytes_ += text.size();
      all_.emplace_back(text);
      after_.push_back(0);
      slot = static_cast<std::uint32_t>(all_.size());
      return slot;
    }
    if (all_[slot - 1] == text) return slot;
  }
  return 0;
}

PacketWriter::PacketWriter(std::string& out, std::uint32_t sequence, std::uint32_t machine)
    : out_(out) {
  add_number(begin_, PacketField::trusted_packet_sequence_id, sequence);
  if (machine != 0) add_number(begin_, PacketField::machine_id, machine);
}

void PacketWriter::mark(std::string_view text) {
  packet([&](std::string& packet) {
    add_message(packet, PacketField::system_info, [&](std::string& info) {
      add_bytes(info, SystemField::tracing_service_version, text);
    });
  });
}

void PacketWriter::track(std::uint64_t uuid, std::uint64_t parent, std::string_view name,
                         std::string_view more) {
  packet([&](std::string& packet) {
    add_message(packet, PacketField::track_descriptor, [&](std::string& track) {
      add_number(track, TrackField::uuid, uuid);
      if (parent != 0) add_number(track, TrackField::parent_uuid, parent);
      if (!name.empty()) add_bytes(track, TrackField::name, name);
      track += more;
    });
  });
}

void PacketWriter::event(std::uint64_t track, std::uint64_t ns, std::int32_t type,
                         std::string_view fields) {
  const auto length_of = [](std::uint64_t number) {
    return static_cast<std::size_t>(protozero::length_of_varint(number));
  };
  packet_ = begin_;
  add_number(packet_, PacketField::timestamp, ns);
  add_number(packet_, PacketField::sequence_flags, k_needs_state);
  add_key(packet_, PacketField::track_event, protozero::pbf_wire_type::length_delimited);
  const std::size_t size = 2 + 1 + length_of(track) + fields.size();
  add_varint(packet_, size);
  add_number(packet_, EventField::type, static_cast<std::uint64_t>(type));
  add_number(packet_, EventField::track_uuid, track);
  // The long part is copied once.
  add_key(out_, TraceField::packet, protozero::pbf_wire_type::length_delimited);
  add_varint(out_, packet_.size() + fields.size());
  out_ += packet_;
  out_ += fields;
}

void add_name(std::string& data, InternedField table, std::uint64_t number, std::string_view name) {
  add_message(data, table, [&](std::string& one) {
    add_number(one, NameField::iid, number);
    add_bytes(one, NameField::name, name);
  });
}

}  // namespace entrain::perfetto
