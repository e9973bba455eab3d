// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/source/describe.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "trace/operations.hpp"
#include "trace/properties.hpp"

namespace entrain::otf2 {

namespace {

using trace::EventKind;

const char* record_name(EventKind kind) {
  switch (kind) {
    case EventKind::send:
      return "MpiSend";
    case EventKind::isend:
      return "MpiIsend";
    case EventKind::recv:
      return "MpiRecv";
    case EventKind::irecv_request:
      return "MpiIrecvRequest";
    case EventKind::irecv:
      return "MpiIrecv";
    case EventKind::request_cancelled:
      return "MpiRequestCancelled";
    case EventKind::collective_begin:
      return "MpiCollectiveBegin";
    case EventKind::collective_end:
      return "MpiCollectiveEnd";
    case EventKind::nb_request:
      return "NonBlockingCollectiveRequest";
    case EventKind::nb_complete:
      return "NonBlockingCollectiveComplete";
    case EventKind::init_enter:
      return "MPI_Init enter";
    case EventKind::init_leave:
      return "MPI_Init leave";
    case EventKind::finalize_enter:
      return "MPI_Finalize enter";
    case EventKind::finalize_leave:
      return "MPI_Finalize leave";
    case EventKind::neighbours_enter:
      return "neighbourhood collective enter";
    case EventKind::neighbours_leave:
      return "neighbourhood collective leave";
    case EventKind::thread_fork:
      return "ThreadFork";
    case EventKind::thread_join:
      return "ThreadJoin";
    case EventKind::team_begin:
      return "ThreadTeamBegin";
    case EventKind::team_end:
      return "ThreadTeamEnd";
    case EventKind::thread_create:
      return "ThreadCreate";
    case EventKind::thread_begin:
      return "ThreadBegin";
    case EventKind::thread_wait:
      return "ThreadWait";
    case EventKind::thread_end:
      return "ThreadEnd";
    case EventKind::lock_acquire:
      return "lock acquire";
    case EventKind::lock_release:
      return "lock release";
    case EventKind::barrier_enter:
      return "thread barrier enter";
    case EventKind::barrier_leave:
      return "thread barrier leave";
    case EventKind::task_create:
      return "ThreadTaskCreate";
    case EventKind::task_switch:
      return "ThreadTaskSwitch";
    case EventKind::edge_end:
      return "end of an edge";
    case EventKind::rma_collective_begin:
      return "RmaCollectiveBegin";
    case EventKind::rma_collective_end:
      return "RmaCollectiveEnd";
    case EventKind::rma_group_sync:
      return "RmaGroupSync";
    case EventKind::rma_notify:
      return "RmaSync";
    case EventKind::rma_lock:
      return "Rma locks";
  }
  return "unknown";
}

/// Counts of what the skeletons of all locations hold.
class Summary {
 public:
  explicit Summary(ArchiveInfo& info) : info_(info) {}

  void add(const trace::LocationSkeleton& location) {
    info_.events += location.event_count;
    info_.communication_events += location.events.size();
    info_.empty_locations += location.event_count == 0 ? 1 : 0;
    info_.clock_offset_records += location.clock_offsets.size();
    info_.locations_with_clock_offsets += location.clock_offsets.empty() ? 0 : 1;
    if (location.event_count > 0) {
      info_.first_ticks = any_ ? std::min(info_.first_ticks, location.first) : location.first;
      info_.last_ticks = std::max(info_.last_ticks, location.last);
      any_ = true;
    }
    for (const trace::Event& event : location.events) {
      ++records_[event.kind];
      if (event.kind == EventKind::collective_end || event.kind == EventKind::nb_complete) {
        ++operations_[event.op];
      }
    }
    anomaly("truncated_event_files", location.truncated ? 1 : 0);
    anomaly("missing_event_files", location.event_file_missing ? 1 : 0);
    anomaly("missing_definition_files", location.definition_file_missing ? 1 : 0);
    anomaly("unknown_records", location.unknown_records);
    anomaly("undefined_references", location.undefined_references);
    anomaly("locations_with_decreasing_time", location.decreasing.empty() ? 0 : 1);
  }

  void finish() {
    for (const auto& [kind, n] : records_) info_.communication.emplace_back(record_name(kind), n);
    for (const auto& [code, n] : operations_) {
      info_.collectives.emplace_back(trace::operation_name(code), n);
    }
    for (const auto& [name, n] : anomalies_) info_.anomalies.emplace_back(name, n);
  }

 private:
  void anomaly(const char* name, std::uint64_t n) {
    if (n > 0) anomalies_[name] += n;
  }
  ArchiveInfo& info_;
  bool any_ = false;
  std::map<EventKind, std::uint64_t> records_;
  std::map<std::uint8_t, std::uint64_t> operations_;
  std::map<std::string, std::uint64_t> anomalies_;
};

std::uint64_t distinct(const std::vector<std::uint32_t>& numbers) {
  return std::set<std::uint32_t>(numbers.begin(), numbers.end()).size();
}

}  // namespace

ArchiveInfo describe(const session::LoadedTrace& loaded) {
  const trace::Definitions& definitions = loaded.trace.definitions;
  const Anchor& anchor = archive_of(loaded).anchor();
  ArchiveInfo info;
  info.archive = loaded.trace.path;
  info.machine = anchor.machine;
  info.creator = anchor.creator;
  info.description = anchor.description;
  info.trace_format = anchor.trace_format;
  info.locations = definitions.locations.size();
  info.processes = distinct(definitions.process_of);
  info.nodes = distinct(definitions.node_of);
  info.resolution_hz = definitions.clock.resolution_hz;
  info.global_offset_ticks = definitions.clock.global_offset;
  info.length_ticks = definitions.clock.length;
  for (const trace::Property& property : definitions.properties) {
    info.properties.emplace_back(property.name, property.value);
  }
  info.completeness = trace::completeness_of(definitions);
  Summary summary(info);
  for (const auto& location : loaded.trace.locations) summary.add(location);
  summary.finish();
  return info;
}

}  // namespace entrain::otf2
