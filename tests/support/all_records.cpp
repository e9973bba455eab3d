// SPDX-License-Identifier: BSD-3-Clause
#include "support/all_records.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "support/random_events.hpp"

namespace entrain::test {

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr U32 k_undefined = OTF2_UNDEFINED_UINT32;
constexpr U32 k_attributes = 40;

/// One location and how it stores ids.
struct Stream {
  U64 id;
  IdStyle style;
  std::uint8_t type;  ///< OTF2_LocationType
  bool empty;
  std::unique_ptr<RandomEvents> events;
  U64 time = 0;
};

/// Ids as tracers make them: small, sparse, beyond 32 bits.
std::vector<Stream> make_streams(bool mappings) {
  const auto style = [&](IdStyle wanted) { return mappings ? wanted : IdStyle::global; };
  std::vector<Stream> streams;
  streams.push_back({0, IdStyle::global, OTF2_LOCATION_TYPE_CPU_THREAD, false, nullptr});
  streams.push_back({7, style(IdStyle::dense), OTF2_LOCATION_TYPE_CPU_THREAD, false, nullptr});
  streams.push_back(
      {(U64{1} << 32) + 7, style(IdStyle::sparse), OTF2_LOCATION_TYPE_CPU_THREAD, false, nullptr});
  streams.push_back({5'000'000'000'000'000'000u, IdStyle::global,
                     OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, false, nullptr});
  streams.push_back({12, IdStyle::global, OTF2_LOCATION_TYPE_CPU_THREAD, true, nullptr});
  streams.push_back({(U64{1} << 40), IdStyle::global, OTF2_LOCATION_TYPE_METRIC, false, nullptr});
  return streams;
}

void write_metric_definitions(OTF2_GlobalDefWriter* writer, U32 name) {
  for (U32 i = 0; i < 41; ++i) {
    OTF2_GlobalDefWriter_WriteMetricMember(writer, i, name, name, OTF2_METRIC_TYPE_OTHER,
                                           OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_UINT64,
                                           OTF2_BASE_DECIMAL, -3, name);
  }
  std::vector<U32> members(40);
  for (U32 i = 0; i < 40; ++i) members[i] = i + 1;
  const U32 first = 0;
  OTF2_GlobalDefWriter_WriteMetricClass(writer, 0, 1, &first, OTF2_METRIC_SYNCHRONOUS,
                                        OTF2_RECORDER_KIND_CPU);
  OTF2_GlobalDefWriter_WriteMetricClass(writer, 1, 40, members.data(), OTF2_METRIC_ASYNCHRONOUS,
                                        OTF2_RECORDER_KIND_ABSTRACT);
}

void write_io_definitions(OTF2_GlobalDefWriter* writer, U32 name) {
  OTF2_GlobalDefWriter_WriteIoParadigm(writer, 0, name, name, OTF2_IO_PARADIGM_CLASS_SERIAL,
                                       OTF2_IO_PARADIGM_FLAG_OS, 0, nullptr, nullptr, nullptr);
  OTF2_GlobalDefWriter_WriteIoRegularFile(writer, 0, name, 0);
  OTF2_GlobalDefWriter_WriteIoDirectory(writer, 1, name, 0);
  for (U32 i = 0; i < 3; ++i) {
    OTF2_GlobalDefWriter_WriteIoHandle(writer, i, name, 0, 0, OTF2_IO_HANDLE_FLAG_NONE, 0,
                                       k_undefined);
  }
}

/// Everything the events name that the builder has no function for.
void write_further_definitions(OTF2_GlobalDefWriter* writer, U32 name) {
  for (U32 i = 0; i < k_attributes; ++i) {
    OTF2_GlobalDefWriter_WriteAttribute(writer, i, name, name, static_cast<OTF2_Type>(1 + i % 25));
  }
  write_metric_definitions(writer, name);
  write_io_definitions(writer, name);
  OTF2_GlobalDefWriter_WriteParameter(writer, 0, name, OTF2_PARAMETER_TYPE_STRING);
  OTF2_GlobalDefWriter_WriteParameter(writer, 1, name, OTF2_PARAMETER_TYPE_INT64);
  OTF2_GlobalDefWriter_WriteParameter(writer, 2, name, OTF2_PARAMETER_TYPE_UINT64);
  OTF2_GlobalDefWriter_WriteSourceCodeLocation(writer, 0, name, 17);
  for (U32 i = 0; i < 4; ++i) {
    OTF2_GlobalDefWriter_WriteCallingContext(writer, i, i, 0, i == 0 ? k_undefined : i - 1);
  }
  OTF2_GlobalDefWriter_WriteInterruptGenerator(writer, 0, name, OTF2_INTERRUPT_GENERATOR_MODE_TIME,
                                               OTF2_BASE_DECIMAL, -9, 1000);
}

/// Processes, regions, groups, communicators, windows; the streams become locations.
DefinitionCounts define(ArchiveBuilder& archive, const std::vector<Stream>& streams) {
  const auto node = archive.node("node one"), other = archive.node("node two");
  const auto first = archive.process("MPI Rank 0", node);
  const auto second = archive.process("MPI Rank 1", other);
  const auto device = archive.accelerator("device 0", node, first);
  const U32 processes[] = {first, second, second, device, first, second};
  for (std::size_t i = 0; i < streams.size(); ++i) {
    archive.location(streams[i].id, processes[i], "", streams[i].type);
  }
  DefinitionCounts counts;
  for (const char* name : {"main", "work", "MPI_Init", "MPI_Finalize"}) {
    counts.regions = archive.region(name) + 1;
  }
  archive.region("!$omp barrier", Role::barrier, Paradigm::openmp);
  archive.region("MPI_Barrier", Role::barrier, Paradigm::mpi);
  counts.first_window_region = 6;
  for (const char* name :
       {"MPI_Win_post", "MPI_Win_start", "MPI_Win_complete", "MPI_Win_wait", "MPI_Win_test"}) {
    counts.regions = archive.region(name) + 1;
  }
  const auto world = archive.comm("MPI_COMM_WORLD", {0, 7});
  archive.comm("reversed", {7, 0});
  archive.self_comm("MPI_COMM_SELF");
  archive.inter_comm("inter", {0}, {7}, world);
  const auto team = archive.comm("team", {7, streams[2].id}, Paradigm::openmp);
  counts.comms = team + 1;
  archive.window("window a", world);
  counts.windows = archive.window("window b", world) + 1;
  counts.groups = archive.group({7}) + 1 - ArchiveBuilder::k_first_group;
  counts.attributes = k_attributes;
  const auto name = archive.string("a name");
  archive.string("an argument");
  counts.strings = 2;
  archive.property("TESTS::PURPOSE", "all records");
  archive.definitions(
      [name](OTF2_GlobalDefWriter* writer) { write_further_definitions(writer, name); });
  return counts;
}

void write_mappings(ArchiveBuilder& archive, const Stream& stream, const DefinitionCounts& counts) {
  if (stream.style == IdStyle::global) return;
  const auto table = [&](U32 count, U32 first = 0) {
    std::map<U64, U64> result;
    for (U32 i = 0; i < count; ++i) result[stored_id(stream.style, count, i)] = first + i;
    return result;
  };
  archive.mapping(stream.id, OTF2_MAPPING_REGION, table(counts.regions));
  archive.mapping(stream.id, OTF2_MAPPING_GROUP,
                  table(counts.groups, ArchiveBuilder::k_first_group));
  archive.mapping(stream.id, OTF2_MAPPING_COMM, table(counts.comms));
  archive.mapping(stream.id, OTF2_MAPPING_RMA_WIN, table(counts.windows));
}

/// Location number n gets n % 4 records, a lone one among them; slopes of both signs.
void write_clock_offsets(ArchiveBuilder& archive, const std::vector<Stream>& streams, U64 base,
                         U64 end) {
  const U64 span = end - base;
  for (std::size_t n = 0; n < streams.size(); ++n) {
    const U64 id = streams[n].id;
    const auto offset = static_cast<std::int64_t>(n) * 1000 + 3;
    if (n % 4 >= 1) archive.clock_offset(id, base + span / 10, offset, 0.25);
    if (n % 4 >= 2) archive.clock_offset(id, base + span / 2, offset + 777, 1.5);
    if (n % 4 >= 3) archive.clock_offset(id, base + span - 1, -1);
  }
}

void write_events(ArchiveBuilder& archive, std::vector<Stream>& streams, unsigned count,
                  Random& random) {
  std::vector<unsigned> order(k_event_record_types);
  for (unsigned i = 0; i < order.size(); ++i) order[i] = i;
  for (unsigned i = 0; i < count; ++i) {
    for (auto& stream : streams) {
      if (stream.empty) continue;
      // Equal stamps, single ticks, and gaps of every size; a start of four equal ones.
      if (i >= 4 && !random.one_in(3)) stream.time += random.below(U64{1} << random.below(11));
      stream.time = std::max(stream.time, archive.last_time(stream.id));
      if (stream.type == OTF2_LOCATION_TYPE_METRIC) {
        stream.events->write_metric(stream.time);
      } else {
        const bool all_types_first = i < k_event_record_types;
        stream.events->write(
            all_types_first ? order[i] : static_cast<unsigned>(random.below(order.size())),
            stream.time);
      }
    }
  }
  for (auto& stream : streams) {
    if (!stream.empty) stream.events->close(std::max(stream.time, archive.last_time(stream.id)));
  }
}

void write_snapshots(ArchiveBuilder& archive, const std::vector<Stream>& streams) {
  for (const auto& stream : streams) {
    OTF2_SnapWriter* writer = archive.snapshot(stream.id);
    const U64 time = stream.time / 2, original = stream.time / 3;
    require(OTF2_SnapWriter_SnapshotStart(writer, nullptr, time, 4), "snapshot");
    OTF2_SnapWriter_MeasurementOnOff(writer, nullptr, time, original, OTF2_MEASUREMENT_ON);
    OTF2_SnapWriter_Enter(writer, nullptr, time, original, 0);
    OTF2_SnapWriter_MpiSend(writer, nullptr, time, original + 1, 1, 0, 3, 100);
    OTF2_SnapWriter_MpiIrecvRequest(writer, nullptr, time, original + 2, 9);
    require(OTF2_SnapWriter_SnapshotEnd(writer, nullptr, time, 5), "snapshot");
  }
}

void write_markers_and_thumbnails(ArchiveBuilder& archive, U64 base, U64 end) {
  OTF2_MarkerWriter* markers = OTF2_Archive_GetMarkerWriter(archive.archive());
  OTF2_MarkerWriter_WriteDefMarker(markers, 0, "group", "category", OTF2_SEVERITY_HIGH);
  const U64 span = end - base;
  OTF2_MarkerWriter_WriteMarker(markers, base + span / 4, span / 8, 0, OTF2_MARKER_SCOPE_GLOBAL,
                                OTF2_UNDEFINED_UINT64, "global");
  OTF2_MarkerWriter_WriteMarker(markers, base + span / 3, 0, 0, OTF2_MARKER_SCOPE_LOCATION, 7,
                                "of a location");
  require(OTF2_Archive_CloseMarkerWriter(archive.archive(), markers), "markers");
  const U64 reference = 0, sample = 5;
  OTF2_ThumbWriter* thumbnail = OTF2_Archive_GetThumbWriter(
      archive.archive(), "thumbnail", "", OTF2_THUMBNAIL_TYPE_REGION, 2, 1, &reference);
  OTF2_ThumbWriter_WriteSample(thumbnail, 10, 1, &sample);
  OTF2_ThumbWriter_WriteSample(thumbnail, 10, 1, &sample);
}

}  // namespace

std::filesystem::path write_all_records_archive(const std::filesystem::path& directory, U64 seed,
                                                const AllRecordsOptions& options) {
  BuilderOptions builder_options;
  builder_options.trace_id = seed;
  builder_options.chunks_before_flush = options.buffer_flushes ? 2 : 0;
  ArchiveBuilder archive(directory, builder_options);
  auto streams = make_streams(options.mappings);
  const DefinitionCounts counts = define(archive, streams);
  Random random(seed);
  U64 end = 0;
  for (auto& stream : streams) {
    write_mappings(archive, stream, counts);
    stream.time = options.base_time;
    stream.events =
        std::make_unique<RandomEvents>(archive, stream.id, counts, stream.style, random);
  }
  write_events(archive, streams, options.events_per_location, random);
  for (const auto& stream : streams) end = std::max(end, archive.last_time(stream.id));
  if (options.clock_offsets) write_clock_offsets(archive, streams, options.base_time, end);
  if (options.side_files) {
    write_snapshots(archive, streams);
    write_markers_and_thumbnails(archive, options.base_time, end);
  }
  return archive.finish();
}

}  // namespace entrain::test
