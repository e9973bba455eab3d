// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <tuple>
#include <utility>

#include "base/executor.hpp"
#include "base/flat_map.hpp"
#include "match/calls.hpp"

namespace entrain::match {

namespace {

using trace::Event;
using trace::EventKind;

/// True if all callers of the operation contribute the same number of bytes.
bool contribute_alike(std::uint8_t op) {
  return op == trace::op::allreduce || op == trace::op::allgather || op == trace::op::alltoall ||
         op == trace::op::reduce_scatter_block;
}

/// The calls of a process, and the number of unmatched records.
struct ProcessCalls {
  Calls calls;
  std::uint64_t ends_without_begin = 0;
  std::uint64_t open_requests = 0;
  std::uint64_t unrecorded = 0;  ///< neighbourhood calls without a record
};

/// Pairs begins with ends on every location of a process and lists the calls in the order of their
/// begins.
class CallCollector {
 public:
  CallCollector(const Builder& builder, std::uint32_t process)
      : builder_(builder), process_(process) {}

  ProcessCalls collect() {
    const std::vector<LocationIndex>& locations = builder_.processes()[process_];
    for (const LocationIndex location : locations) collect_location(location);
    if (builder_.is_threaded(process_)) merge_threads();
    result_.calls.reserve(started_.size());
    for (const Started& call : started_) add(call);
    return std::move(result_);
  }

 private:
  struct Started {
    EventRef start;         ///< begin or request; the end if that is missing
    std::uint32_t end = 0;  ///< index of the end record
    bool begun = false;     ///< there was a begin or request
  };

  void collect_location(LocationIndex location) {
    const trace::EventList& events = builder_.events(location);
    FlatMap<std::uint64_t, std::uint32_t, IntegerHash> requests;
    std::uint32_t begun = k_none;
    bool among_neighbours = false;  // inside such a call, without a record so far
    const std::size_t first = started_.size();
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      switch (events.kind(i)) {
        case EventKind::collective_begin:
          begun = i;
          among_neighbours = false;
          break;
        case EventKind::collective_end:
          // A call without a begin still counts in the order of calls.
          started_.push_back({{location, begun == k_none ? i : begun}, i, begun != k_none});
          begun = k_none;
          break;
        case EventKind::nb_request:
          among_neighbours = false;
          *requests.insert(events[i].id, i).first = i;
          break;
        case EventKind::isend:
        case EventKind::irecv_request:
        case EventKind::request_cancelled:  // an id means its latest use
          if (requests.size() > 0) requests.erase(events[i].id);
          break;
        case EventKind::nb_complete: {
          const std::uint32_t* request = requests.find(events[i].id);
          started_.push_back(
              {{location, request == nullptr ? i : *request}, i, request != nullptr});
          requests.erase(events[i].id);
          break;
        }
        case EventKind::neighbours_enter:
          among_neighbours = true;
          break;
        case EventKind::neighbours_leave:
          result_.unrecorded += std::exchange(among_neighbours, false) ? 1 : 0;
          break;
        default:
          break;
      }
    }
    result_.open_requests += requests.size();
    // Non-blocking calls complete in any order but count in the order of their requests.
    std::sort(started_.begin() + static_cast<std::ptrdiff_t>(first), started_.end(),
              [](const Started& a, const Started& b) { return a.start.index < b.start.index; });
  }

  /// Sorts by begin. Of calls begun at one stamp requests come first, as they take no time, and
  /// then the call that ended first. The calls of each thread stay in stream order.
  void merge_threads() {
    struct Timed {
      std::uint64_t begin = 0;
      std::uint64_t over = 0;  ///< earliest time of another thread's call
      std::uint64_t until = 0;
      Started call;

      [[nodiscard]] auto place() const { return std::tie(begin, over, until); }
    };
    std::vector<Timed> timed;
    for (const Started& call : started_) {
      const LocationIndex location = call.start.location;
      const Event& end = builder_.event({location, call.end});
      Timed one{builder_.event(call.start).time, end.time, end.time, call};
      if (end.kind == EventKind::nb_complete) one.over = one.begin;
      if (!timed.empty() && timed.back().begin == one.begin &&
          timed.back().call.start.location == location) {
        one.over = std::max(one.over, timed.back().over);
        one.until = std::max(one.until, timed.back().until);
      }
      timed.push_back(one);
    }
    std::ranges::stable_sort(timed,
                             [](const Timed& a, const Timed& b) { return a.place() < b.place(); });
    for (std::size_t i = 0; i < timed.size(); ++i) started_[i] = timed[i].call;
  }

  void add(const Started& started) {
    const EventRef end{started.start.location, started.end};
    const Event& event = builder_.event(end);
    Call call;
    call.set_ends(builder_, end, started.begun ? started.start.index : k_none);
    result_.ends_without_begin += started.begun ? 0 : 1;
    call.space = event.comm;
    call.process = process_;
    if ((event.flags & trace::k_partners) != 0) {
      call.partners = event.peer;
    } else {
      call.root = root_of(event);
    }
    call.op = event.op;
    if (contribute_alike(event.op)) call.size_code = event.tag;
    call.non_blocking = event.kind == EventKind::nb_complete;
    call.sent = (event.flags & trace::k_sent) != 0;
    call.received = (event.flags & trace::k_received) != 0;
    result_.calls.push_back(call);
  }

  [[nodiscard]] std::uint32_t root_of(const Event& event) const {
    if (event.peer == trace::k_root_self) return process_;
    if (event.peer == trace::k_root_this_group) return k_root_elsewhere;
    if (event.peer == trace::k_root_none) return k_none;
    return builder_.process_of_peer(event.comm, process_, event.peer);
  }

  const Builder& builder_;
  const std::uint32_t process_;
  std::vector<Started> started_;
  ProcessCalls result_;
};

}  // namespace

void match_collectives(Builder& builder) {
  std::vector<ProcessCalls> of_processes(builder.processes().size());
  for_each_in_parallel(builder.options().threads, of_processes.size(), [&](std::size_t p) {
    if (builder.cancel().asked()) return;
    of_processes[p] = CallCollector(builder, static_cast<std::uint32_t>(p)).collect();
  });
  std::vector<Calls> lists;
  std::uint64_t ends_without_begin = 0, open_requests = 0, unrecorded = 0;
  for (ProcessCalls& of_process : of_processes) {
    lists.push_back(std::move(of_process.calls));
    ends_without_begin += of_process.ends_without_begin;
    open_requests += of_process.open_requests;
    unrecorded += of_process.unrecorded;
  }
  builder.count_unmatched("collective_ends_without_begin", ends_without_begin);
  builder.count_unmatched("collective_requests_incomplete", open_requests);
  builder.count_skipped("neighbourhood_instances", unrecorded);
  match_calls(builder, std::move(lists), CallSpace::comms);
}

namespace {

/// The call of MPI_Init or MPI_Finalize of one process.
struct GlobalCall {
  NodeRef enter, leave;
};

/// Finds the first enter on a location, and the first leave after it.
struct CallSearch {
  std::uint32_t enter = k_none, leave = k_none;
  bool any = false;  ///< there is an enter or a leave

  CallSearch(const trace::EventList& events, EventKind enter_kind, EventKind leave_kind) {
    for (std::uint32_t i = 0; i < events.size() && leave == k_none; ++i) {
      if (events.kind(i) != enter_kind && events.kind(i) != leave_kind) continue;
      any = true;
      if (events.kind(i) == enter_kind) {
        enter = std::min(enter, i);
      } else if (enter != k_none) {
        leave = i;
      }
    }
  }
};

/// Returns the calls of this member's processes. MPI allows one call by one thread, so incomplete
/// calls and calls of several threads are counted and ignored.
std::vector<GlobalCall> global_calls(Builder& builder, EventKind enter, EventKind leave) {
  std::vector<GlobalCall> calls;
  for (const auto& locations : builder.processes()) {
    GlobalCall call;
    std::uint32_t callers = 0;
    for (const LocationIndex location : locations) {
      const CallSearch found(builder.events(location), enter, leave);
      if (!found.any) continue;
      ++callers;
      if (found.leave == k_none) continue;
      call = {builder.ref({location, found.enter}), builder.ref({location, found.leave})};
    }
    if (callers == 1 && call.enter.location != k_none) {
      calls.push_back(call);
    } else if (callers > 0) {
      builder.count_unmatched("init_finalize");
    }
  }
  return calls;
}

}  // namespace

void match_init_finalize(Builder& builder) {
  if (!builder.options().init_finalize) return;
  const auto match = [&](EventKind enter, EventKind leave) {
    std::vector<std::vector<GlobalCall>> parcels(builder.team().size());
    parcels[0] = global_calls(builder, enter, leave);
    std::vector<Participant> sends, receives;
    for (const auto& parcel : exchange(builder.team(), std::move(parcels))) {
      for (const GlobalCall& call : parcel) {
        sends.push_back(builder.participant(call.enter));
        receives.push_back(builder.participant(call.leave));
      }
    }
    builder.add_exchange(EdgeKind::init_finalize, false, sends, receives);
  };
  match(EventKind::init_enter, EventKind::init_leave);
  match(EventKind::finalize_enter, EventKind::finalize_leave);
}

}  // namespace entrain::match
