// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "formats/perfetto/packet_writer.hpp"
#include "formats/perfetto/walk.hpp"

namespace entrain::perfetto {
namespace {

std::size_t width_of(std::uint64_t number) {
  return static_cast<std::size_t>(protozero::length_of_varint(number));
}

/// Adds a varint of this width, which holds the number.
void add_wide(std::uint64_t number, std::size_t width, std::string& to) {
  for (std::size_t i = 1; i < width; ++i, number >>= 7) {
    to += static_cast<char>((number & 0x7F) | 0x80);
  }
  to += static_cast<char>(number & 0x7F);
}

void add_narrow(std::uint64_t number, std::size_t width, std::string& to) {
  for (std::size_t i = 0; i < width; ++i, number >>= 8) to += static_cast<char>(number & 0xFF);
}

/// New numbers for a packet. A varint keeps its width if the number fits, filled up as protobuf
/// allows; else it grows, and with it the lengths around it.
class Patch {
 public:
  /// `packet`: with its tag and length. Views of it are those that set() and enter() take.
  void begin(std::string_view packet, std::string_view body) {
    packet_ = packet;
    numbers_.clear();
    lengths_.clear();
    // The tag of a packet, which a varint may write longer, precedes the length.
    std::size_t tag = 1;
    while ((static_cast<unsigned char>(packet[tag - 1]) & 0x80) != 0) ++tag;
    lengths_.push_back(
        {.at = tag, .width = packet.size() - body.size() - tag, .number = body.size()});
  }
  /// The length around fields of a message inside the packet, for `inside` below; `inside`: that
  /// around the message itself, 0: the packet's.
  std::size_t enter(std::string_view message, std::size_t inside = 0) {
    if (message.data() == nullptr) return inside;  // a number in its place: nothing moves in it
    // The length ends where the message begins; the byte before it ends the tag.
    const auto end = static_cast<std::size_t>(message.data() - packet_.data());
    std::size_t at = end - 1;
    while (at > 0 && (static_cast<unsigned char>(packet_[at - 1]) & 0x80) != 0) --at;
    lengths_.push_back({.at = at, .width = end - at, .number = message.size(), .inside = inside});
    return lengths_.size() - 1;
  }
  /// Replaces a number.
  void set(const Value& old, std::uint64_t number, std::size_t inside = 0) {
    if (old.number == number) return;
    const bool is_fixed = old.fixed_size != 0;
    numbers_.push_back({.at = static_cast<std::size_t>(old.at - packet_.data()),
                        .width = is_fixed ? old.fixed_size : old.width,
                        .number = number,
                        .inside = inside,
                        .is_fixed = is_fixed});
  }
  /// The packet with its new numbers; valid until the next call. As it was without any.
  std::string_view result() {
    if (numbers_.empty()) return packet_;
    widen();
    numbers_.insert(numbers_.end(), lengths_.begin(), lengths_.end());
    std::ranges::sort(numbers_, {}, &Spot::at);
    text_.clear();
    std::size_t done = 0;
    for (const Spot& spot : numbers_) {
      text_ += packet_.substr(done, spot.at - done);
      if (spot.is_fixed) {
        add_narrow(spot.number, spot.width, text_);
      } else {
        add_wide(spot.number, std::max(spot.width, width_of(spot.number)), text_);
      }
      done = spot.at + spot.width;
    }
    text_ += packet_.substr(done);
    return text_;
  }

 private:
  struct Spot {
    std::size_t at = 0, width = 0;  ///< position and size in the packet, bytes
    std::uint64_t number = 0;
    std::size_t inside = 0;  ///< position of the length around it
    bool is_fixed = false;
    std::size_t growth = 0;  ///< growth of what a length covers, bytes
  };
  /// Makes room for numbers, and for the lengths around them.
  void widen() {
    const auto grow = [&](const Spot& spot) {
      const std::size_t width = std::max(spot.width, width_of(spot.number));
      lengths_[spot.inside].growth += spot.growth + width - spot.width;
    };
    for (const Spot& spot : numbers_) {
      if (!spot.is_fixed) grow(spot);
    }
    // A length is entered after those around it.
    for (std::size_t i = lengths_.size(); i-- > 0;) {
      lengths_[i].number += lengths_[i].growth;
      if (i > 0) grow(lengths_[i]);
    }
  }

  std::string_view packet_;
  std::vector<Spot> lengths_, numbers_;
  std::string text_;
};

/// Clocks further apart are those of a damaged file, ns.
constexpr std::int64_t k_most_shift = std::int64_t{1} << 60;

/// Readings of a machine's clocks and of the host's, one after the other.
struct ClockSync {
  struct Side {
    std::vector<Reading> readings;
    std::int64_t shift = 0;  ///< ns, by which they move
    std::size_t inside = 0;  ///< see Patch::enter()

    /// The moved value of a clock; 0 if there is none.
    [[nodiscard]] std::uint64_t value(std::uint32_t clock) const {
      std::uint64_t value = 0;
      for (const Reading& one : readings) {
        if (one.clock != clock || one.stored.at == nullptr) continue;
        value = static_cast<std::uint64_t>(one.value) + static_cast<std::uint64_t>(shift);
      }
      return value;
    }
  };
  Side client, host;
};

/// How far a clock of the machine is ahead of that of the host, ns, as Perfetto computes it: the
/// mean of all round trips that begin at either side (ProtoTraceReader::CalculateClockOffsets).
std::int64_t offset_of(const std::vector<ClockSync>& syncs, std::uint32_t clock) {
  constexpr std::uint64_t k_apart = 30'000'000'000;  // ns; later ones are of another round
  std::uint64_t sum = 0;
  std::int64_t count = 0;
  for (std::size_t i = 1; i < syncs.size(); ++i) {
    const ClockSync &first = syncs[i - 1], &second = syncs[i];
    if (second.client.value(k_boot_time) - first.client.value(k_boot_time) >= k_apart) continue;
    const std::uint64_t h1 = first.host.value(clock), c1 = first.client.value(clock),
                        h2 = second.host.value(clock), c2 = second.client.value(clock);
    if (h1 == 0 || c1 == 0 || h2 == 0 || c2 == 0) continue;
    sum += (c1 + c2) / 2 - h1 + (c2 - (h1 + h2) / 2);
    count += 2;
  }
  const std::int64_t mean = count > 0 ? static_cast<std::int64_t>(sum) / count : 0;
  return mean > -k_most_shift && mean < k_most_shift ? mean : 0;
}

class Retimer {
 public:
  Retimer(const std::filesystem::path& path, const Survey& survey, const NewTime& time,
          const std::function<Result<void>(std::string_view)>& write)
      : state(path, false), survey_(survey), time_(time), write_(write) {}

  Result<void> take(const Step& step) {
    if (step.packet.holds_packets()) return put_packed(step);
    TRY_ASSIGN(const std::string_view text, moved_text(step));
    if (!step.is_packed) return write_(text);
    bundle_ += text;
    is_bundle_changed_ |= text.data() != step.piece.whole.data();
    return {};
  }

  State state;

 private:
  /// The packet with its new times; as it was if it has none.
  Result<std::string_view> moved_text(const Step& step) {
    if (!step.piece.is_packet) return step.piece.whole;
    const Packet& packet = step.packet;
    patch_.begin(step.piece.whole, step.piece.body);
    if (!step.readings.empty()) TRY(move_snapshot(step));
    if (!packet.sync.empty()) TRY(move_sync(packet));
    moved_.set_primary(state.clocks.primary());
    if (step.time) {
      const Row* const row = row_of(packet);
      TRY_ASSIGN(const std::int64_t moved, time_(row, packet.machine, *step.time));
      const ClockKey clock = state.clock_of(packet);
      patch_.set(packet.timestamp, static_cast<std::uint64_t>(moved_.from_trace(clock, moved)));
      if (row != nullptr) TRY(move_durations(step, *row, moved));
    }
    return patch_.result();
  }

  /// Packs the packets that preceded again, if one of them has changed.
  Result<void> put_packed(const Step& step) {
    const std::string_view body = step.piece.body, before = step.packet.packed.bytes;
    std::string text;
    if (is_bundle_changed_) {
      const auto at = static_cast<std::size_t>(step.packet.packed.at - body.data());
      text = body.substr(0, at);
      TRY_ASSIGN(const std::string packed, json::pack(step.packet.packing, bundle_));
      add_varint(text, packed.size());
      text += packed;
      text += body.substr(static_cast<std::size_t>(before.data() - body.data()) + before.size());
      std::string whole;
      add_bytes(whole, TraceField::packet, text);
      text = std::move(whole);
    }
    TRY(write_(is_bundle_changed_ ? text : step.piece.whole));
    bundle_.clear();
    is_bundle_changed_ = false;
    return {};
  }

  /// The row of an event; null for other packets.
  [[nodiscard]] const Row* row_of(const Packet& packet) const {
    std::uint32_t track = Tracks::k_none;
    if (packet.is_stage()) {
      track = survey_.tracks.find(queue_of(packet.stage, packet.machine));
    } else if (packet.is_event()) {
      const EventHead head = head_of_event(packet.event, state);
      track = survey_.tracks.find({head.track, packet.machine});
    }
    if (track == Tracks::k_none || survey_.tracks[track].row == Tracks::k_none) return nullptr;
    return &survey_.tracks.rows()[survey_.tracks[track].row];
  }

  /// What is added to wall clocks of a machine. Viewers take those of all machines for one clock,
  /// and relate machines by it where they know nothing better: so all show what that of the first
  /// machine does.
  Result<std::int64_t> wall_shift(std::uint32_t machine, const std::vector<Reading>& readings) {
    constexpr std::size_t k_entry = 64;  // bytes of memory
    const Reading *wall = nullptr, *own = nullptr;
    for (const Reading& one : readings) {
      if (one.clock == k_wall_time) wall = &one;
      if (one.clock == state.clocks.primary()) own = &one;
    }
    auto known = walls_.find(machine);
    if (known == walls_.end() && wall != nullptr && own != nullptr) {
      TRY(state.keep(k_entry));
      const std::uint64_t ahead =
          static_cast<std::uint64_t>(wall->value) - static_cast<std::uint64_t>(own->value);
      known = walls_.emplace(machine, ahead).first;
      if (!first_wall_) first_wall_ = ahead;
    }
    if (known == walls_.end()) return 0;
    const auto shift = static_cast<std::int64_t>(*first_wall_ - known->second);
    return shift > -k_most_shift && shift < k_most_shift ? shift : 0;
  }

  Result<void> shift_readings(std::int64_t shift, std::uint32_t machine, std::size_t inside,
                              std::vector<Reading>& readings) {
    TRY_ASSIGN(const std::int64_t of_walls, wall_shift(machine, readings));
    for (Reading& reading : readings) {
      if (reading.stored.at == nullptr) continue;  // a 0 that is not written stays
      const bool is_wall = reading.clock == k_wall_time || reading.clock == k_coarse_wall_time;
      const std::int64_t whole = shift + (is_wall ? of_walls : 0);
      const std::int64_t half = (whole < 0 ? -reading.unit : reading.unit) / 2;
      reading.value =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(reading.value) +
                                    static_cast<std::uint64_t>((whole + half) / reading.unit));
      patch_.set(reading.stored, static_cast<std::uint64_t>(reading.value),
                 patch_.enter(reading.message, inside));
    }
    return {};
  }

  /// Moves the readings from which viewers learn how far the clock of a machine is from that of the
  /// host, which is machine 0. Corrected clocks show one time, so that the offset that a viewer
  /// computes must be 0: what is left of it is taken off the machine's readings.
  Result<void> move_sync(const Packet& packet) {
    const std::size_t inside = patch_.enter(packet.sync);
    std::vector<ClockSync> syncs;
    std::size_t total = 0;  // of snapshots and readings
    Result<void> result;
    const auto read = [&](ClockSync::Side& side, std::string_view snapshot, std::uint32_t machine,
                          std::size_t around) -> Result<void> {
      Clocks none;  // whose primary one is not that of the trace
      readings_of(snapshot, none, side.readings);
      side.inside = patch_.enter(snapshot, around);
      total += 1 + side.readings.size();
      const std::int64_t time = state.clocks.time_of(machine, packet.sequence, side.readings);
      TRY_ASSIGN(side.shift, time_(nullptr, machine, time));
      side.shift -= time;
      return {};
    };
    for_each_field<SyncField>(packet.sync, [&](SyncField field, const Value& pair) {
      if (field != SyncField::synced_clocks || !result || ++total > k_most_readings) return;
      ClockSync& sync = syncs.emplace_back();
      const std::size_t around = patch_.enter(pair.bytes, inside);
      for_each_field<SyncedField>(pair.bytes, [&](SyncedField side, const Value& snapshot) {
        if (!result || total > k_most_readings) return;
        if (side == SyncedField::host_clocks) {
          result = read(sync.host, snapshot.bytes, 0, around);
        } else if (side == SyncedField::client_clocks) {
          result = read(sync.client, snapshot.bytes, packet.machine, around);
        }
      });
    });
    TRY(result);
    const std::int64_t left = offset_of(syncs, state.clocks.primary());
    for (ClockSync& sync : syncs) {
      TRY(shift_readings(sync.host.shift, 0, sync.host.inside, sync.host.readings));
      TRY(shift_readings(sync.client.shift - left, packet.machine, sync.client.inside,
                         sync.client.readings));
    }
    return {};
  }

  /// All readings move by as much as the clock of the trace does, so that the clocks of the file
  /// stay what they are to each other.
  Result<void> move_snapshot(const Step& step) {
    const Packet& packet = step.packet;
    const std::int64_t time = state.clocks.time_of(packet.machine, packet.sequence, step.readings);
    TRY_ASSIGN(const std::int64_t moved, time_(nullptr, packet.machine, time));
    readings_ = step.readings;
    TRY(shift_readings(moved - time, packet.machine, patch_.enter(packet.snapshot), readings_));
    moved_.set_primary(state.clocks.primary());
    moved_.add(packet.machine, packet.sequence, readings_);
    return {};
  }

  /// Moves the ends of events that tell their durations.
  Result<void> move_durations(const Step& step, const Row& row, std::int64_t moved) {
    const Packet& packet = step.packet;
    const auto set = [&](const Value& duration, std::int64_t unit,
                         std::size_t inside) -> Result<void> {
      std::int64_t end = 0;
      if (__builtin_mul_overflow(duration.integer(), unit, &end) || end <= 0 ||
          __builtin_add_overflow(*step.time, end, &end)) {
        return {};
      }
      TRY_ASSIGN(end, time_(&row, packet.machine, end));
      patch_.set(duration, static_cast<std::uint64_t>((end - moved + unit / 2) / unit), inside);
      return {};
    };
    if (packet.is_stage()) {
      Value duration;
      for_each_field<StageField>(packet.stage, [&](StageField field, const Value& value) {
        if (field == StageField::duration) duration = value;
      });
      return duration.at != nullptr ? set(duration, 1, patch_.enter(packet.stage)) : Result<void>{};
    }
    const EventHead head = head_of_event(packet.event, state);
    if (head.phase != 'X' || head.duration_us.at == nullptr) return {};
    return set(head.duration_us, 1000, patch_.enter(head.legacy.bytes, patch_.enter(packet.event)));
  }

  const Survey& survey_;
  const NewTime& time_;
  const std::function<Result<void>(std::string_view)>& write_;
  Clocks moved_;  ///< clocks of the copy
  std::vector<Reading> readings_;
  std::map<std::uint32_t, std::uint64_t> walls_;  ///< how far each machine's clock is ahead, ns
  std::optional<std::uint64_t> first_wall_;       ///< the first machine's
  Patch patch_;
  std::string bundle_;  ///< packets that are packed in the packet that follows
  bool is_bundle_changed_ = false;
};

}  // namespace

Result<TraceFacts> retime(const std::filesystem::path& path, std::uint64_t max_unpacked,
                          const Survey& survey, const NewTime& time,
                          const std::function<Result<void>(std::string_view)>& write) {
  Retimer retimer(path, survey, time, write);
  std::string rest;
  const auto take = [&](const Step& step) { return retimer.take(step); };
  TRY_ASSIGN(const TraceFacts facts, walk(path, max_unpacked, retimer.state, take, &rest));
  TRY(write(rest));
  return facts;
}

}  // namespace entrain::perfetto
