// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include <fmt/core.h>

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
  const std::vector<Reading>& readings;  ///< of its snapshot
  std::optional<std::int64_t> time;      ///< by the clock of the trace, ns; none if unusable
};

/// Reads all packets in order, each after its sequence's state; calls `see(step)`, which returns
/// Result<void>. `rest`: receives what follows the last whole packet.
template <class See>
Result<TraceFacts> walk(const std::filesystem::path& path, std::uint64_t max_unpacked, State& state,
                        const See& see, std::string* rest = nullptr) {
  TRY_ASSIGN(Packets packets, Packets::open(path, max_unpacked));
  TraceFacts facts;
  std::vector<Reading> readings;
  Piece piece;
  Packet packet;
  const auto take = [&]() -> Result<void> {
    readings.clear();
    read_packet(piece.is_packet ? piece.body : std::string_view(), packet);
    if (!piece.is_packet) return see(Step{piece, packet, readings, {}});
    if (packet.holds_packets) {
      return fail(ErrorKind::input,
                  fmt::format("{}: the packet at byte {} holds packed ones; unpack them with "
                              "`traceconv decompress_packets`",
                              path.string(), packets.offset()));
    }
    TRY(state.take(packet));
    if (!packet.snapshot.empty()) {
      readings_of(packet.snapshot, state.clocks, readings);
      TRY(state.take_snapshot(packet, readings));
    }
    Step step{piece, packet, readings, {}};
    const bool is_usable = state.is_usable(packet);
    if (is_usable && packet.has_time()) {
      step.time = state.clocks.to_trace(state.clock_of(packet), packet.timestamp.integer());
    }
    const bool is_event = packet.is_event() || packet.is_stage();
    if (is_event && !is_usable) ++facts.events_without_state;
    if (is_event && is_usable && !packet.has_time()) ++facts.events_without_time;
    facts.holds_other_times |= packet.holds_times;
    facts.ties_machines |= packet.ties_machines;
    return see(step);
  };
  for (;;) {
    TRY_ASSIGN(const bool more, packets.next(piece));
    if (!more) break;
    try {
      TRY(take());
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
  return facts;
}

/// Parts of a TrackEvent that say what it is.
struct EventHead {
  std::int32_t type = 0;  ///< 0: `legacy` has a phase
  char phase = 'i';       ///< of Chrome JSON: B, E, X, C, and others
  std::uint64_t track = 0;
  Value legacy;       ///< the older form
  Value duration_us;  ///< of a legacy event
};
EventHead head_of_event(std::string_view event, const State& state);
/// Completes the head of an event whose type and older form are known.
void set_phase(EventHead& head);

/// The queue of a device on which work runs.
TrackKey queue_of(std::string_view stage, std::uint32_t machine);

}  // namespace entrain::perfetto
