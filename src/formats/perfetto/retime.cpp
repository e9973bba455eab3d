// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include "formats/perfetto/patch.hpp"
#include "formats/perfetto/walk.hpp"

namespace entrain::perfetto {
namespace {

class Retimer {
 public:
  Retimer(const std::filesystem::path& path, const Survey& survey, const NewTime& time,
          const std::function<Result<void>(std::string_view)>& write)
      : state(path, false), survey_(survey), time_(time), write_(write) {}

  Result<void> take(const Step& step) {
    if (!step.piece.is_packet) return write_(step.piece.whole);
    const Packet& packet = step.packet;
    patch_.begin(step.piece.whole, step.piece.body);
    if (!step.readings.empty()) TRY(move_snapshot(step));
    moved_.set_primary(state.clocks.primary());
    if (step.time) {
      const Row* const row = row_of(packet);
      TRY_ASSIGN(const std::int64_t moved, time_(row, packet.machine, *step.time));
      const ClockKey clock = state.clock_of(packet);
      patch_.set(packet.timestamp, static_cast<std::uint64_t>(moved_.from_trace(clock, moved)));
      if (row != nullptr) TRY(move_durations(step, *row, moved));
    }
    return write_(patch_.result());
  }

  State state;

 private:
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

  /// All readings move by as much as the clock of the trace does, so that the clocks of the file
  /// stay what they are to each other.
  Result<void> move_snapshot(const Step& step) {
    const Packet& packet = step.packet;
    const std::int64_t time = state.clocks.time_of(packet.machine, packet.sequence, step.readings);
    TRY_ASSIGN(const std::int64_t moved, time_(nullptr, packet.machine, time));
    const std::int64_t shift = moved - time;
    const std::size_t inside = patch_.enter(packet.snapshot);
    readings_ = step.readings;
    for (Reading& reading : readings_) {
      if (reading.stored.at == nullptr) continue;  // a 0 that is not written stays
      const std::int64_t half = (shift < 0 ? -reading.unit : reading.unit) / 2;
      reading.value =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(reading.value) +
                                    static_cast<std::uint64_t>((shift + half) / reading.unit));
      patch_.set(reading.stored, static_cast<std::uint64_t>(reading.value),
                 patch_.enter(reading.message, inside));
    }
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
  Patch patch_;
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
