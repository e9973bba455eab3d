// SPDX-License-Identifier: BSD-3-Clause
#include "support/trace_writer.hpp"

#include <vector>

#include "support/archive_builder.hpp"
#include "support/library_reader.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace entrain::test {

namespace {

using trace::Event;
using trace::EventKind;
using trace::RmaGroupRole;

/// Definitions of the archive under construction, and the regions that some events need.
class TraceWriter {
 public:
  TraceWriter(const trace::Trace& trace, const std::filesystem::path& directory)
      : trace_(trace), archive_(directory) {
    define_locations();
    define_comms();
    init_ = archive_.region("MPI_Init");
    finalize_ = archive_.region("MPI_Finalize");
    barrier_ = archive_.region("!$omp barrier", Role::implicit_barrier, Paradigm::openmp);
    window_calls_ = {0, archive_.region("MPI_Win_post"), archive_.region("MPI_Win_start"),
                     archive_.region("MPI_Win_complete"), archive_.region("MPI_Win_wait")};
  }

  std::filesystem::path write() {
    for (std::size_t l = 0; l < trace_.locations.size(); ++l) {
      const trace::LocationSkeleton& skeleton = trace_.locations[l];
      events_ = archive_.at(trace_.definitions.locations[l].id);
      if (skeleton.event_count > 0) other(skeleton.first);
      for (const Event& event : skeleton.events) write(event);
      if (skeleton.event_count > 0) other(skeleton.last);
      for (const auto& flush : skeleton.flushes) events_.flush(flush.begin, flush.end);
      for (const auto& offset : skeleton.clock_offsets) {
        archive_.clock_offset(events_.location, offset.time, offset.offset, offset.stddev);
      }
    }
    return archive_.finish();
  }

 private:
  void define_locations() {
    std::vector<std::uint32_t> nodes(1);  // by position; the first one is the machine
    for (std::size_t i = 1; i < trace_.definitions.tree_nodes.size(); ++i) {
      const auto& node = trace_.definitions.tree_nodes[i];
      nodes.push_back(archive_.node(node.name, node.shared_memory));
    }
    for (const auto& group : trace_.definitions.location_groups) {
      archive_.process(group.name, nodes.at(group.tree_node));
    }
    for (const auto& location : trace_.definitions.locations) {
      archive_.location(location.id, location.group, location.name);
    }
  }

  void define_comms() {
    const auto ids = [&](const std::vector<LocationIndex>& members) {
      std::vector<std::uint64_t> result;
      for (const auto member : members) {
        result.push_back(trace_.definitions.locations.at(member).id);
      }
      return result;
    };
    for (const auto& group : trace_.definitions.groups) archive_.group(ids(group.members));
    for (const auto& comm : trace_.definitions.comms) {
      if (comm.self) {
        archive_.self_comm(comm.name);
      } else if (comm.inter) {
        archive_.inter_comm(comm.name, ids(comm.group_a), ids(comm.group_b), 0);
      } else {
        archive_.comm(comm.name, ids(comm.group_a));
      }
    }
    for (const auto& window : trace_.definitions.windows) archive_.window(window.name, window.comm);
  }

  /// Any record that is no communication.
  void other(std::uint64_t time) {
    put(OTF2_EvtWriter_MeasurementOnOff, time, OTF2_MEASUREMENT_ON);
  }

  template <class Function, class... Fields>
  void put(Function function, std::uint64_t time, Fields... fields) {
    archive_.note_time(events_.location, time);
    require(function(events_.writer, nullptr, time, fields...), "an event");
  }

  static std::uint64_t bytes(const Event& e, std::uint8_t flag) {
    return (e.flags & flag) != 0 ? 8 : 0;
  }

  void write(const Event& e) {
    switch (e.kind) {
      case EventKind::send:
        events_.send(e.time, e.peer, e.comm, e.tag);
        return;
      case EventKind::isend:
        events_.isend(e.time, e.peer, e.comm, e.tag, e.id);
        return;
      case EventKind::recv:
        events_.recv(e.time, e.peer, e.comm, e.tag);
        return;
      case EventKind::irecv_request:
        events_.irecv_request(e.time, e.id);
        return;
      case EventKind::irecv:
        events_.irecv(e.time, e.peer, e.comm, e.tag, e.id);
        return;
      case EventKind::request_cancelled:
        events_.cancelled(e.time, e.id);
        return;
      case EventKind::collective_begin:
        events_.collective_begin(e.time);
        return;
      case EventKind::collective_end:
        events_.collective_end(e.time, e.op, e.comm, e.peer, bytes(e, trace::k_sent),
                               bytes(e, trace::k_received));
        return;
      case EventKind::nb_request:
        events_.nb_request(e.time, e.id);
        return;
      case EventKind::nb_complete:
        events_.nb_complete(e.time, e.op, e.comm, e.peer, e.id, bytes(e, trace::k_sent),
                            bytes(e, trace::k_received));
        return;
      case EventKind::init_enter:
        events_.enter(e.time, init_);
        return;
      case EventKind::init_leave:
        events_.leave(e.time, init_);
        return;
      case EventKind::finalize_enter:
        events_.enter(e.time, finalize_);
        return;
      case EventKind::finalize_leave:
        events_.leave(e.time, finalize_);
        return;
      default:
        write_thread_or_rma(e);
    }
  }

  void write_thread_or_rma(const Event& e) {
    switch (e.kind) {
      case EventKind::thread_fork:
        events_.fork(e.time);
        return;
      case EventKind::thread_join:
        events_.join(e.time);
        return;
      case EventKind::team_begin:
        events_.team_begin(e.time, e.comm);
        return;
      case EventKind::team_end:
        events_.team_end(e.time, e.comm);
        return;
      case EventKind::thread_create:
        put(OTF2_EvtWriter_ThreadCreate, e.time, e.comm, e.id);
        return;
      case EventKind::thread_begin:
        put(OTF2_EvtWriter_ThreadBegin, e.time, e.comm, e.id);
        return;
      case EventKind::thread_wait:
        put(OTF2_EvtWriter_ThreadWait, e.time, e.comm, e.id);
        return;
      case EventKind::thread_end:
        put(OTF2_EvtWriter_ThreadEnd, e.time, e.comm, e.id);
        return;
      case EventKind::lock_acquire:
        put(OTF2_EvtWriter_ThreadAcquireLock, e.time, e.op, e.peer, e.tag);
        return;
      case EventKind::lock_release:
        put(OTF2_EvtWriter_ThreadReleaseLock, e.time, e.op, e.peer, e.tag);
        return;
      case EventKind::barrier_enter:
        events_.enter(e.time, barrier_);
        return;
      case EventKind::barrier_leave:
        events_.leave(e.time, barrier_);
        return;
      case EventKind::task_create:
        put(OTF2_EvtWriter_ThreadTaskCreate, e.time, e.comm, e.peer, e.tag);
        return;
      case EventKind::task_switch:
        put(OTF2_EvtWriter_ThreadTaskSwitch, e.time, e.comm, e.peer, e.tag);
        return;
      case EventKind::rma_collective_begin:
        put(OTF2_EvtWriter_RmaCollectiveBegin, e.time);
        return;
      case EventKind::rma_collective_end:
        put(OTF2_EvtWriter_RmaCollectiveEnd, e.time, e.op, e.tag, e.comm, e.peer,
            bytes(e, trace::k_sent), bytes(e, trace::k_received));
        return;
      case EventKind::rma_group_sync:
        group_sync(e);
        return;
      case EventKind::rma_notify:
        put(OTF2_EvtWriter_RmaSync, e.time, e.comm, e.peer, e.op);
        return;
      case EventKind::rma_lock:
        put(OTF2_EvtWriter_RmaReleaseLock, e.time, e.comm, e.peer, e.id);
        return;
      default:
        return;
    }
  }

  void group_sync(const Event& e) {
    const std::uint32_t call = window_calls_.at(e.op);
    const std::uint32_t group = e.peer + ArchiveBuilder::k_first_group;
    if (e.op != 0) events_.enter(e.time, call);
    put(OTF2_EvtWriter_RmaGroupSync, e.time, e.tag, e.comm, group);
    if (e.op != 0) events_.leave(e.time, call);
  }

  const trace::Trace& trace_;
  ArchiveBuilder archive_;
  ArchiveBuilder::Events events_;
  std::uint32_t init_ = 0, finalize_ = 0, barrier_ = 0;
  std::vector<std::uint32_t> window_calls_;  ///< by RmaGroupRole
};

}  // namespace

std::filesystem::path write_trace(const trace::Trace& trace,
                                  const std::filesystem::path& directory) {
  return TraceWriter(trace, directory).write();
}

}  // namespace entrain::test
