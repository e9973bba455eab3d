// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/source.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/try.hpp"
#include "clocks/presync.hpp"
#include "formats/otf2/load.hpp"
#include "formats/otf2/read/archive.hpp"
#include "trace/properties.hpp"

namespace entrain::otf2 {

namespace {

class ArchiveTimes : public formats::TimedEvents {
 public:
  ArchiveTimes(trace::LoadedTrace loaded, std::vector<ClockMap> maps)
      : loaded_(std::move(loaded)), maps_(std::move(maps)) {
    const trace::Definitions& definitions = loaded_.trace.definitions;
    for (const trace::Location& location : definitions.locations) {
      locations.push_back({.id = location.id});
    }
    resolution_hz = definitions.clock.resolution_hz;
    find_span();
    for (LocationIndex l = 0; l < maps_.size(); ++l) {
      const trace::LocationSkeleton& location = loaded_.trace.locations[l];
      if (location.event_count == 0) continue;
      cover(maps_[l](location.first), maps_[l](location.last));
    }
  }

  [[nodiscard]] Result<formats::LocationTimes> times(LocationIndex l) const override {
    TRY_ASSIGN(EventStamps events, read_stamps(archive_of(loaded_, l), l));
    formats::LocationTimes result;
    result.times.reserve(events.stamps.size());
    ClockMap::Cursor cursor(maps_[l]);
    for (const std::uint64_t stamp : events.stamps) {
      result.times.push_back(cursor(stamp));
      if (span != SpanOrigin::whole_trace) {
        result.in_span.push_back(holds(l, stamp, result.times.back()) ? 1 : 0);
      }
    }
    result.communicates = std::move(events.communication);
    result.kinds = std::move(events.types);
    return result;
  }
  [[nodiscard]] Result<void> check_unchanged() const override {
    return loaded_.reader->check_unchanged();
  }

 private:
  void find_span() {
    const trace::Trace& trace = loaded_.trace;
    const bool noted =
        trace::find_property(trace.definitions, trace::k_property_session_span) != nullptr;
    const auto has_offsets = [](const auto& location) {
      return location.clock_offsets.size() >= 2;
    };
    if (!noted && std::ranges::any_of(trace.locations, has_offsets)) {
      span = SpanOrigin::clock_offsets;
    } else if ((noted_ = clocks::session_span(trace, maps_))) {
      span = SpanOrigin::property;
    }
  }

  [[nodiscard]] bool holds(LocationIndex l, std::uint64_t stamp, std::int64_t time) const {
    if (span == SpanOrigin::property) return time >= noted_->begin && time <= noted_->end;
    const auto& offsets = loaded_.trace.locations[l].clock_offsets;
    return offsets.size() >= 2 && stamp >= offsets.front().time && stamp <= offsets.back().time;
  }

  trace::LoadedTrace loaded_;
  std::vector<ClockMap> maps_;
  std::optional<clocks::SessionSpan> noted_;
};

}  // namespace

Result<std::unique_ptr<formats::TimedEvents>> timed_events(
    std::span<const std::filesystem::path> paths, bool raw, unsigned threads, Progress* progress) {
  trace::Workers workers(threads);
  TRY_ASSIGN(trace::LoadedTrace loaded, load(workers, paths, progress));
  TRY_ASSIGN(clocks::Presynchronised presync,
             clocks::presynchronise(loaded.trace, raw ? clocks::PresyncOptions(Presync::none)
                                                      : clocks::PresyncOptions::of_reader()));
  return std::make_unique<ArchiveTimes>(std::move(loaded), std::move(presync.maps));
}

}  // namespace entrain::otf2
