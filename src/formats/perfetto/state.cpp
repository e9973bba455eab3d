// SPDX-License-Identifier: BSD-3-Clause
#include "formats/perfetto/state.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/memory_room.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"

namespace entrain::perfetto {
namespace {

/// Names, tracks, open slices and snapshots may take so many bytes: those of real runs take a
/// thousandth.
constexpr std::size_t k_most_kept = std::size_t{1} << 30;
/// Memory of a sequence with a few names, beside those of the names, bytes.
constexpr std::size_t k_sequence_memory = 1792;

}  // namespace

bool is_plain(std::string_view text) {
  constexpr std::uint64_t k_ones = 0x0101010101010101, k_highs = 0x8080808080808080;
  const auto less = [](std::uint64_t word, std::uint64_t than) {  // bytes below 0x80 are
    return (word - k_ones * than) & ~word & k_highs;
  };
  const auto equal = [&](std::uint64_t word, std::uint64_t byte) {
    return less(word ^ (k_ones * byte), 1);
  };
  const auto wanting = [&](std::uint64_t word) {
    return (word & k_highs) | less(word, ' ') | equal(word, '"') | equal(word, '\\') |
           equal(word, 0x7F);
  };
  std::uint64_t word = 0, found = 0;
  for (; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
    std::memcpy(&word, text.data(), sizeof word);
    found |= wanting(word);
  }
  word = k_ones * ' ';
  for (const char sign : text) word = word << 8 | static_cast<unsigned char>(sign);
  return (found | wanting(word)) == 0;
}

void escape(std::string_view text, std::string& to) {
  if (is_plain(text)) {
    to += text;
    return;
  }
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    const std::size_t size = utf8_sequence(text);
    if (size == 0) {
      to += '?';
    } else if (byte < 0x20 || byte == 0x7F) {
      fmt::format_to(std::back_inserter(to), "\\u{:04x}", byte);
    } else {
      if (byte == '"' || byte == '\\') to += '\\';
      to += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
}

void read_packet(std::string_view body, Packet& packet) {
  packet = {};
  for_each_field<PacketField>(body, [&](PacketField field, const Value& value) {
    using enum PacketField;
    if (field == timestamp) packet.timestamp = value;
    if (field == timestamp_clock_id) packet.clock = value.small();
    if (field == trusted_packet_sequence_id) packet.sequence = value.small();
    if (field == machine_id) packet.machine = value.small();
    if (field == sequence_flags) {
      packet.needs_state = (value.number & k_needs_state) != 0;
      packet.clears_state |= (value.number & k_state_cleared) != 0;
    }
    if (field == incremental_state_cleared) packet.clears_state |= value.number != 0;
    if (field == previous_packet_dropped) packet.follows_a_loss = value.number != 0;
    if (field == track_event) packet.event = value.bytes;
    if (field == gpu_render_stage_event) packet.stage = value.bytes;
    if (field == interned_data) packet.interned = value.bytes;
    if (field == trace_packet_defaults) packet.defaults = value.bytes;
    if (field == track_descriptor) packet.descriptor = value.bytes;
    if (field == trace_attributes) packet.attributes = value.bytes;
    if (field == clock_snapshot) packet.snapshot = value.bytes;
    if (field == remote_clock_sync) packet.sync = value.bytes;
    if (field == ftrace_events || field == etw_events) packet.holds_times = true;
    if (field != compressed_packets && field != zstd_compressed_packets) return;
    if (value.bytes.data() == nullptr) return;  // of another wire type: a field not known
    packet.packed = value;
    packet.packing = field == compressed_packets ? json::Packing::deflate : json::Packing::zstd;
  });
  if (!packet.holds_packets()) return;
  Packet only;
  only.packing = packet.packing;
  only.packed = packet.packed;
  packet = only;
}

void Sequence::clear() {
  is_valid = true;
  defaults = {};
  if (texts_.empty()) return;
  tables_ = {};
  texts_.clear();
  size_ = 0;
}

void Sequence::add(Names table, std::uint64_t iid, std::string_view name) {
  const bool is_key = table == Names::note;
  std::string& text = texts_.emplace_front(is_key ? "\"" : "");
  escape(name, text);
  if (is_key) text += "\": ";
  Table& own = tables_[static_cast<std::size_t>(table)];
  if (iid == own.first.size()) own.first.emplace_back();
  if (iid < own.first.size()) {
    own.first[iid] = text;
  } else if (auto [known, is_new] = own.others.insert(iid, text); !is_new) {
    *known = text;
  }
  constexpr std::size_t k_entry = 128;  // of the map and of the text
  size_ += text.size() + k_entry;
}

Result<void> State::keep(std::size_t bytes) {
  constexpr std::size_t k_step = std::size_t{1} << 20;
  const std::size_t before = kept_;
  kept_ += bytes;
  if (kept_ > k_most_kept) {
    return input_error(
        "{}: its names, tracks, clocks and open slices take more than {} bytes, which no recording "
        "needs; the file is damaged, or made to fill the memory",
        path_.string(), k_most_kept);
  }
  return before / k_step == kept_ / k_step ? Result<void>{} : check_memory_room(path_);
}

/// Finds the sequence of a packet; makes a new one only if the packet gives it a state.
Result<void> State::enter(const Packet& packet) {
  const std::uint64_t key = std::uint64_t{packet.machine} << 32 | packet.sequence;
  const bool has_state =
      packet.clears_state || !packet.interned.empty() || !packet.defaults.empty();
  if (key == last_ && (sequence_ != nullptr || !has_state)) return {};
  last_ = key;
  const std::uint32_t* number = numbers_.find(key);
  if (number == nullptr && has_state) {
    TRY(keep(k_sequence_memory));
    number = numbers_.insert(key, static_cast<std::uint32_t>(sequences_.size())).first;
    sequences_.emplace_back();
  }
  sequence_ = number != nullptr ? &sequences_[*number] : nullptr;
  return {};
}

Result<void> State::take(const Packet& packet) {
  TRY(enter(packet));
  if (sequence_ == nullptr) return {};
  if (packet.follows_a_loss) sequence_->is_valid = false;
  if (packet.clears_state) {
    release(sequence_->size());
    sequence_->clear();
  }
  if (!packet.defaults.empty()) {
    Defaults& defaults = sequence_->defaults;
    defaults.counters = {};
    const auto add_to = [](FewNumbers& counters, const Value& uuids) {
      for_each_number(uuids, false, [&](std::uint64_t uuid) { counters.add(uuid); });
    };
    for_each_field<PacketField>(packet.defaults, [&](PacketField field, const Value& value) {
      if (field == PacketField::timestamp_clock_id) defaults.clock = value.small();
      if (field != PacketField::track_event) return;
      for_each_field<EventField>(value.bytes, [&](EventField inner, const Value& own) {
        if (inner == EventField::track_uuid) defaults.track = own.number;
        if (inner == EventField::extra_counter_track_uuids) add_to(defaults.counters[0], own);
        if (inner == EventField::extra_double_counter_track_uuids)
          add_to(defaults.counters[1], own);
      });
    });
  }
  return with_names_ && !packet.interned.empty() ? take_names(packet.interned) : Result<void>{};
}

Result<void> State::take_names(std::string_view interned) {
  using enum InternedField;
  constexpr std::array<std::pair<InternedField, Names>, 5> k_tables{
      {{event_categories, Names::category},
       {event_names, Names::event},
       {debug_annotation_names, Names::note},
       {debug_annotation_string_values, Names::value},
       {gpu_specifications, Names::stage}}};
  const std::size_t before = sequence_->size();
  for_each_field<InternedField>(interned, [&](InternedField field, const Value& entry) {
    const auto* const table =
        std::ranges::find(k_tables, field, [](const auto& one) { return one.first; });
    if (table == k_tables.end()) return;
    std::uint64_t iid = 0;
    std::string_view name;
    for_each_field<NameField>(entry.bytes, [&](NameField part, const Value& value) {
      if (part == NameField::iid) iid = value.number;
      if (part == NameField::name) name = value.bytes;
    });
    if (iid != 0) sequence_->add(table->second, iid, name);
  });
  return keep(sequence_->size() - before);
}

Result<void> State::take_snapshot(const Packet& packet, std::span<const Reading> readings) {
  constexpr std::size_t k_reading = 64;
  const std::size_t before = clocks.size();
  clocks.add(packet.machine, packet.sequence, readings);
  return clocks.size() > before ? keep((clocks.size() - before) * k_reading) : Result<void>{};
}

ClockKey State::clock_of(const Packet& packet) const {
  const std::uint32_t own = defaults().clock.value_or(clocks.primary());
  return clock_key(packet.machine, packet.sequence, packet.clock.value_or(own));
}

void readings_of(std::string_view snapshot, Clocks& clocks, std::vector<Reading>& readings) {
  readings.clear();
  for_each_field<SnapshotField>(snapshot, [&](SnapshotField field, const Value& value) {
    if (field == SnapshotField::primary_trace_clock) clocks.set_primary(value.small());
    if (field != SnapshotField::clocks || readings.size() == k_most_readings) return;
    Reading& reading = readings.emplace_back();
    reading.message = value.bytes;
    for_each_field<ClockField>(value.bytes, [&](ClockField part, const Value& own) {
      using enum ClockField;
      if (part == clock_id) reading.clock = own.small();
      if (part == timestamp) {
        reading.value = own.integer();
        reading.stored = own;
      }
      if (part == is_incremental) reading.is_incremental = own.number != 0;
      if (part == unit_multiplier_ns && own.integer() > 0) reading.unit = own.integer();
    });
  });
}

}  // namespace entrain::perfetto
