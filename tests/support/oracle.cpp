// SPDX-License-Identifier: BSD-3-Clause
#include "support/oracle.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "support/library_reader.hpp"
#include "support/oracle_definitions.hpp"
#include "support/oracle_skeleton.hpp"

namespace entrain::test {

namespace {

/// Times only.
struct TimesSink final : EventSink {
  LocationTimes result;
  void event(std::uint64_t time) override { result.times.push_back(time); }
  void flush(std::uint64_t, std::uint64_t stop) override {
    result.flush_stops.push_back(stop);
    result.flush_events.push_back(result.times.size() - 1);
  }
};

std::vector<LocationTimes> read_times(LibraryReader& reader,
                                      const std::vector<std::uint64_t>& locations, bool apply) {
  reader.read_local_definitions(locations, nullptr, [](std::uint64_t) -> void* { return nullptr; });
  std::map<std::uint64_t, TimesSink> sinks;
  const EventCallbacks callbacks;
  set_all_event_callbacks(callbacks.get());
  reader.read_events(locations, callbacks.get(), apply, [&](std::uint64_t id) -> void* {
    return static_cast<EventSink*>(&sinks[id]);
  });
  std::vector<LocationTimes> all;
  for (const auto id : locations) {
    all.push_back(std::move(sinks[id].result));
    all.back().id = id;
  }
  return all;
}

OTF2_CallbackCode note_clock_offset(void* data, OTF2_TimeStamp time, std::int64_t offset,
                                    double deviation) {
  static_cast<trace::LocationSkeleton*>(data)->clock_offsets.push_back({time, offset, deviation});
  return OTF2_CALLBACK_SUCCESS;
}

}  // namespace

std::vector<LocationTimes> library_times(const std::filesystem::path& anchor,
                                         bool apply_clock_offsets) {
  LibraryReader reader(anchor);
  const auto locations = reader.locations();
  return read_times(reader, locations, apply_clock_offsets);
}

std::vector<LocationTimes> library_times_of(const std::filesystem::path& anchor,
                                            const std::vector<std::uint64_t>& locations) {
  LibraryReader reader(anchor);
  reader.locations();  // global definitions have to be read first
  return read_times(reader, locations, true);
}

trace::Trace library_trace(const std::filesystem::path& anchor, bool apply_clock_offsets) {
  LibraryReader reader(anchor);
  trace::Trace trace;
  trace.path = anchor.string();
  OracleDefinitions definitions(reader);
  trace.definitions = definitions.resolve();

  std::vector<std::uint64_t> ids;
  for (const auto& location : trace.definitions.locations) ids.push_back(location.id);
  trace.locations.resize(ids.size());
  const auto position = [&](std::uint64_t id) {
    return static_cast<std::size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin());
  };
  const LocalCallbacks local;
  OTF2_DefReaderCallbacks_SetClockOffsetCallback(local.get(), note_clock_offset);
  reader.read_local_definitions(
      ids, local.get(), [&](std::uint64_t id) -> void* { return &trace.locations[position(id)]; });

  std::vector<SkeletonSink> sinks;
  sinks.reserve(ids.size());
  for (auto& location : trace.locations) sinks.emplace_back(definitions, location);
  const EventCallbacks callbacks;
  set_all_event_callbacks(callbacks.get());
  set_skeleton_callbacks(callbacks.get());
  reader.read_events(ids, callbacks.get(), apply_clock_offsets, [&](std::uint64_t id) -> void* {
    return static_cast<EventSink*>(&sinks[position(id)]);
  });
  return trace;
}

namespace {

OTF2_CallbackCode note_marker(void* data, OTF2_TimeStamp time, OTF2_TimeStamp duration,
                              OTF2_MarkerRef marker, OTF2_MarkerScope scope,
                              std::uint64_t scope_ref, const char* text) {
  static_cast<std::vector<LibraryMarker>*>(data)->push_back(
      {time, duration, marker, scope, scope_ref, text});
  return OTF2_CALLBACK_SUCCESS;
}

using SnapRecords = std::vector<LibrarySnapRecord>;

OTF2_CallbackCode note_snap_mark(OTF2_LocationRef location, OTF2_TimeStamp time, void* data,
                                 OTF2_AttributeList*, std::uint64_t) {
  static_cast<SnapRecords*>(data)->push_back({location, time, time});
  return OTF2_CALLBACK_SUCCESS;
}

template <class... Rest>
OTF2_CallbackCode note_snap(OTF2_LocationRef location, OTF2_TimeStamp time, void* data,
                            OTF2_AttributeList*, OTF2_TimeStamp original, Rest...) {
  static_cast<SnapRecords*>(data)->push_back({location, time, original});
  return OTF2_CALLBACK_SUCCESS;
}

void set_snap_callbacks(OTF2_SnapReaderCallbacks* callbacks) {
  OTF2_SnapReaderCallbacks_SetSnapshotStartCallback(callbacks, note_snap_mark);
  OTF2_SnapReaderCallbacks_SetSnapshotEndCallback(callbacks, note_snap_mark);
#define SET(name) OTF2_SnapReaderCallbacks_Set##name##Callback(callbacks, note_snap)
  SET(MeasurementOnOff);
  SET(Enter);
  SET(MpiSend);
  SET(MpiIsend);
  SET(MpiIsendComplete);
  SET(MpiRecv);
  SET(MpiIrecvRequest);
  SET(MpiIrecv);
  SET(MpiCollectiveBegin);
  SET(MpiCollectiveEnd);
  SET(OmpFork);
  SET(OmpAcquireLock);
  SET(OmpTaskCreate);
  SET(OmpTaskSwitch);
  SET(Metric);
  SET(ParameterString);
  SET(ParameterInt);
  SET(ParameterUnsignedInt);
#undef SET
}

}  // namespace

std::vector<LibraryMarker> library_markers(const std::filesystem::path& anchor) {
  LibraryReader reader(anchor);
  std::vector<LibraryMarker> markers;
  OTF2_MarkerReader* handle = OTF2_Reader_GetMarkerReader(reader.get());
  if (handle == nullptr) return markers;
  const MarkerCallbacks callbacks;
  OTF2_MarkerReaderCallbacks_SetMarkerCallback(callbacks.get(), note_marker);
  require(OTF2_Reader_RegisterMarkerCallbacks(reader.get(), handle, callbacks.get(), &markers),
          "markers");
  std::uint64_t read = 0;
  require(OTF2_Reader_ReadAllMarkers(reader.get(), handle, &read), "markers");
  OTF2_Reader_CloseMarkerReader(reader.get(), handle);
  return markers;
}

std::vector<LibrarySnapRecord> library_snapshots(const std::filesystem::path& anchor) {
  LibraryReader reader(anchor);
  SnapRecords records;
  std::uint32_t snapshots = 0;
  require(OTF2_Reader_GetNumberOfSnapshots(reader.get(), &snapshots), "snapshots");
  if (snapshots == 0) return records;
  const auto locations = reader.locations();
  for (const auto id : locations) OTF2_Reader_SelectLocation(reader.get(), id);
  require(OTF2_Reader_OpenSnapFiles(reader.get()), "snapshot files");
  const SnapCallbacks callbacks;
  set_snap_callbacks(callbacks.get());
  for (const auto id : locations) {
    OTF2_SnapReader* handle = OTF2_Reader_GetSnapReader(reader.get(), id);
    if (handle == nullptr) continue;
    require(OTF2_Reader_RegisterSnapCallbacks(reader.get(), handle, callbacks.get(), &records),
            "snapshots");
    std::uint64_t read = 0;
    require(OTF2_Reader_ReadAllLocalSnapshots(reader.get(), handle, &read), "snapshots");
    OTF2_Reader_CloseSnapReader(reader.get(), handle);
  }
  OTF2_Reader_CloseSnapFiles(reader.get());
  return records;
}

}  // namespace entrain::test
