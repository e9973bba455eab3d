// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include <entrain/error.hpp>

#include "base/try.hpp"
#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/packets.hpp"
#include "formats/perfetto/reader.hpp"
#include "formats/perfetto/state.hpp"

namespace entrain::perfetto {

/// A packet with what precedes it.
struct Step {
  const Piece& piece;
  const Packet& packet;                  ///< empty for a piece of another kind
  const std::vector<Reading>& readings;  ///< readings of its snapshot
  std::optional<std::int64_t> time{};    ///< time by the clock of the trace, ns; none if unusable
  bool is_packed = false;                ///< it is inside a packet, which follows
};

/// Reads all packets in order, each after its sequence's state; calls `see(step)`, which returns
/// Result<void>. Packets that are packed in another one take its place; a packet that says nothing
/// but that follows them. `rest`: receives what follows the last whole packet.
template <class See>
Result<TraceFacts> walk(const std::filesystem::path& path, std::uint64_t max_unpacked, State& state,
                        const See& see, std::string* rest = nullptr) {
  TRY_ASSIGN(Packets packets, Packets::open(path, max_unpacked));
  TraceFacts facts;
  bool names_clocks = false;
  std::vector<Reading> readings;
  Packet packet;
  const auto read = [&](const Piece& piece) {
    readings.clear();
    read_packet(piece.is_packet ? piece.body : std::string_view(), packet);
  };
  const auto take = [&](const Piece& piece, bool is_packed) -> Result<void> {
    if (!piece.is_packet || packet.holds_packets()) {
      return see(Step{piece, packet, readings, {}, is_packed});
    }
    TRY(state.take(packet));
    if (!packet.snapshot.empty()) {
      readings_of(packet.snapshot, state.clocks, readings);
      TRY(state.take_snapshot(packet, readings));
    }
    Step step{piece, packet, readings, {}, is_packed};
    const bool is_usable = state.is_usable(packet);
    if (is_usable && packet.has_time()) {
      step.time = state.clocks.to_trace(state.clock_of(packet), packet.timestamp.integer());
    }
    const bool is_event = packet.is_event() || packet.is_stage();
    if (is_event && !is_usable) ++facts.events_without_state;
    if (is_event && is_usable && !packet.has_time()) ++facts.events_without_time;
    facts.holds_other_times |= packet.holds_times;
    facts.ties_machines |= !packet.sync.empty();
    names_clocks |= packet.clock.has_value() || !packet.snapshot.empty();
    return see(step);
  };
  const auto take_packed = [&]() -> Result<void> {
    if (packet.packed.bytes.empty()) return {};
    TRY_ASSIGN(std::string_view text, packets.unpack(packet.packing, packet.packed.bytes));
    for (Piece inner; !text.empty();) {
      if (!take_piece(text, inner)) return packets.damaged();
      read(inner);
      if (packet.holds_packets()) return packets.damaged();  // no writer packs twice
      TRY(take(inner, true));
    }
    return {};
  };
  Piece piece;
  for (;;) {
    TRY_ASSIGN(const bool more, packets.next(piece));
    if (!more) break;
    try {
      read(piece);
      if (packet.holds_packets()) {
        TRY(take_packed());
        read(piece);
      }
      TRY(take(piece, false));
    } catch (const protozero::exception&) {
      return packets.damaged();
    }
  }
  if (rest != nullptr) *rest = packets.rest();
  facts.packing = packets.packing();
  facts.is_cut = packets.cut();
  facts.bytes = packets.total();
  facts.hash = packets.hash();
  facts.unit = state.clocks.largest_unit();
  facts.clock = names_clocks ? state.clocks.primary() : 0;
  return facts;
}

/// Parts of a TrackEvent that say what it is.
struct EventHead {
  std::int32_t type = 0;  ///< 0: `legacy` has a phase
  char phase = 'i';       ///< phase of Chrome JSON: B, E, X, C, and others
  std::uint64_t track = 0;
  Value legacy;       ///< the older form
  Value duration_us;  ///< duration of a legacy event
};
EventHead head_of_event(std::string_view event, const State& state);
/// Completes the head of an event whose type and older form are known.
void set_phase(EventHead& head);

/// The queue of a device on which work runs.
TrackKey queue_of(std::string_view stage, std::uint32_t machine);

}  // namespace entrain::perfetto
