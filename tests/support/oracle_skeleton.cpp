// SPDX-License-Identifier: BSD-3-Clause
#include "support/oracle_skeleton.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace entrain::test {

using trace::Event;
using trace::EventKind;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

void SkeletonSink::event(U64 time) {
  auto& result = *result_;
  ++result.event_count;
  if (result.event_count == 1) {
    result.first = time;
  } else if (time > previous_) {
    const U64 distance = time - previous_;
    if (result.granule == 0 || distance < result.granule) result.granule = distance;
  } else if (time < previous_ && result.decreasing.empty()) {
    result.decreasing = fmt::format("event {} at {} after {}", result.event_count, time, previous_);
  }
  previous_ = time;
  result.last = std::max(result.last, time);
}

void SkeletonSink::flush(U64 time, U64 stop) {
  result_->flushes.push_back({time, std::max(time, stop)});
}

void SkeletonSink::measurement(U64 time, bool on) {
  const bool open = !result_->gaps.empty() && result_->gaps.back().end == trace::Gap::k_open;
  if (open && on) result_->gaps.back().end = time;
  if (!open && !on) result_->gaps.push_back({.begin = time});
}

U32 SkeletonSink::checked(U32 position) {
  if (position == k_none) ++result_->undefined_references;
  return position;
}

namespace {

/// Calls whose synchronisation is complete only when they end.
bool waits(trace::RmaGroupRole role) {
  return role == trace::RmaGroupRole::start || role == trace::RmaGroupRole::wait;
}

bool is_thread_barrier(const trace::Region& region) {
  return (region.paradigm == OTF2_PARADIGM_OPENMP || region.paradigm == OTF2_PARADIGM_PTHREAD) &&
         (region.role == OTF2_REGION_ROLE_BARRIER ||
          region.role == OTF2_REGION_ROLE_IMPLICIT_BARRIER);
}

/// In small letters and without underscores at the end, as Fortran wrappers name the calls.
bool is_call(const std::string& region, std::string_view call) {
  const auto end = region.find_last_not_of('_');
  const std::string_view name(region.data(), end == std::string::npos ? 0 : end + 1);
  return std::equal(name.begin(), name.end(), call.begin(), call.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

bool is_init(const std::string& name) {
  return is_call(name, "mpi_init") || is_call(name, "mpi_init_thread");
}

}  // namespace

void SkeletonSink::enter(U64 time, U32 id) {
  const auto* region = definitions_->region(id);
  if (region == nullptr) return;
  if (role_of(id) != trace::RmaGroupRole::unknown) window_call(time, role_of(id));
  if (is_init(region->name)) add({.time = time, .kind = EventKind::init_enter});
  if (is_call(region->name, "mpi_finalize")) {
    add({.time = time, .kind = EventKind::finalize_enter});
  }
  if (is_thread_barrier(*region)) add({.time = time, .kind = EventKind::barrier_enter});
}

void SkeletonSink::leave(U64 time, U32 id) {
  const auto* region = definitions_->region(id);
  if (region == nullptr) return;
  if (role_of(id) != trace::RmaGroupRole::unknown) {
    window_call(time, trace::RmaGroupRole::unknown);
  }
  if (is_init(region->name)) add({.time = time, .kind = EventKind::init_leave});
  if (is_call(region->name, "mpi_finalize")) {
    add({.time = time, .kind = EventKind::finalize_leave});
  }
  if (is_thread_barrier(*region)) add({.time = time, .kind = EventKind::barrier_leave});
}

void SkeletonSink::add_group_sync(const trace::Event& event) {
  if (waits(group_role())) {
    waiting_syncs_.push_back(event);
  } else {
    add(event);
  }
}

void SkeletonSink::window_call(U64 time, trace::RmaGroupRole role) {
  role_ = role;
  for (trace::Event event : std::exchange(waiting_syncs_, {})) {
    event.time = time;
    add(event);
  }
}

trace::RmaGroupRole SkeletonSink::role_of(U32 id) const {
  using trace::RmaGroupRole;
  const std::string& name = definitions_->region(id)->name;
  if (is_call(name, "mpi_win_post")) return RmaGroupRole::post;
  if (is_call(name, "mpi_win_start")) return RmaGroupRole::start;
  if (is_call(name, "mpi_win_complete")) return RmaGroupRole::complete;
  if (is_call(name, "mpi_win_wait") || is_call(name, "mpi_win_test")) return RmaGroupRole::wait;
  return RmaGroupRole::unknown;
}

namespace {

/// The sink behind the user data, with the event already noted.
SkeletonSink& sink(void* data, U64 time) {
  auto& result = static_cast<SkeletonSink&>(*static_cast<EventSink*>(data));
  result.event(time);
  return result;
}

std::uint8_t flags(U64 sent, U64 received) {
  return static_cast<std::uint8_t>((sent > 0 ? trace::k_sent : 0) |
                                   (received > 0 ? trace::k_received : 0));
}

#define HEAD OTF2_LocationRef, OTF2_TimeStamp time, U64, void *data, OTF2_AttributeList *
#define SET(name, ...) \
  require(OTF2_EvtReaderCallbacks_Set##name##Callback(callbacks, __VA_ARGS__), #name)

template <EventKind kind>
OTF2_CallbackCode message(HEAD, U32 peer, U32 comm, U32 tag, U64 length) {
  auto& me = sink(data, time);
  Event event{.time = time, .comm = me.comm(comm), .peer = peer, .tag = tag, .kind = kind};
  trace::set_length(event, length);
  me.add(event);
  return OTF2_CALLBACK_SUCCESS;
}

template <EventKind kind>
OTF2_CallbackCode message_with_request(HEAD, U32 peer, U32 comm, U32 tag, U64 length, U64 request) {
  auto& me = sink(data, time);
  Event event{
      .time = time, .id = request, .comm = me.comm(comm), .peer = peer, .tag = tag, .kind = kind};
  trace::set_length(event, length);
  me.add(event);
  return OTF2_CALLBACK_SUCCESS;
}

template <EventKind kind>
OTF2_CallbackCode request_only(HEAD, U64 request) {
  sink(data, time).add({.time = time, .id = request, .kind = kind});
  return OTF2_CALLBACK_SUCCESS;
}

template <EventKind kind>
OTF2_CallbackCode bare(HEAD) {
  sink(data, time).add({.time = time, .kind = kind});
  return OTF2_CALLBACK_SUCCESS;
}

void set_mpi_callbacks(OTF2_EvtReaderCallbacks* callbacks) {
  SET(MeasurementOnOff, [](HEAD, OTF2_MeasurementMode mode) {
    sink(data, time).measurement(time, mode == OTF2_MEASUREMENT_ON);
    return OTF2_CALLBACK_SUCCESS;
  });
  SET(MpiSend, message<EventKind::send>);
  SET(MpiRecv, message<EventKind::recv>);
  SET(MpiIsend, message_with_request<EventKind::isend>);
  SET(MpiIrecv, message_with_request<EventKind::irecv>);
  SET(MpiIrecvRequest, request_only<EventKind::irecv_request>);
  SET(MpiRequestCancelled, request_only<EventKind::request_cancelled>);
  SET(NonBlockingCollectiveRequest, request_only<EventKind::nb_request>);
  SET(MpiCollectiveBegin, bare<EventKind::collective_begin>);
  SET(MpiCollectiveEnd, [](HEAD, OTF2_CollectiveOp op, U32 comm, U32 root, U64 sent, U64 received) {
    auto& me = sink(data, time);
    me.add({.time = time,
            .comm = me.comm(comm),
            .peer = root,
            .tag = trace::size_code(sent),
            .kind = EventKind::collective_end,
            .op = op,
            .flags = flags(sent, received)});
    return OTF2_CALLBACK_SUCCESS;
  });
  SET(NonBlockingCollectiveComplete,
      [](HEAD, OTF2_CollectiveOp op, U32 comm, U32 root, U64 sent, U64 received, U64 request) {
        auto& me = sink(data, time);
        me.add({.time = time,
                .id = request,
                .comm = me.comm(comm),
                .peer = root,
                .tag = trace::size_code(sent),
                .kind = EventKind::nb_complete,
                .op = op,
                .flags = flags(sent, received)});
        return OTF2_CALLBACK_SUCCESS;
      });
}

template <EventKind kind>
OTF2_CallbackCode team(HEAD, U32 comm) {
  auto& me = sink(data, time);
  me.add({.time = time, .comm = me.comm(comm), .kind = kind});
  return OTF2_CALLBACK_SUCCESS;
}

template <EventKind kind>
OTF2_CallbackCode created_thread(HEAD, U32 contingent, U64 sequence) {
  auto& me = sink(data, time);
  me.add({.time = time, .id = sequence, .comm = me.comm(contingent), .kind = kind});
  return OTF2_CALLBACK_SUCCESS;
}

template <EventKind kind>
OTF2_CallbackCode task(HEAD, U32 comm, U32 creator, U32 generation) {
  auto& me = sink(data, time);
  me.add({.time = time, .comm = me.comm(comm), .peer = creator, .tag = generation, .kind = kind});
  return OTF2_CALLBACK_SUCCESS;
}

template <EventKind kind>
OTF2_CallbackCode lock(HEAD, OTF2_Paradigm model, U32 id, U32 order) {
  sink(data, time).add({.time = time, .peer = id, .tag = order, .kind = kind, .op = model});
  return OTF2_CALLBACK_SUCCESS;
}

template <EventKind kind>
OTF2_CallbackCode omp_lock(HEAD, U32 id, U32 order) {
  sink(data, time)
      .add({.time = time, .peer = id, .tag = order, .kind = kind, .op = OTF2_PARADIGM_OPENMP});
  return OTF2_CALLBACK_SUCCESS;
}

void set_thread_callbacks(OTF2_EvtReaderCallbacks* callbacks) {
  SET(ThreadFork, [](HEAD, OTF2_Paradigm, U32) {
    sink(data, time).add({.time = time, .kind = EventKind::thread_fork});
    return OTF2_CALLBACK_SUCCESS;
  });
  SET(ThreadJoin, [](HEAD, OTF2_Paradigm) {
    sink(data, time).add({.time = time, .kind = EventKind::thread_join});
    return OTF2_CALLBACK_SUCCESS;
  });
  SET(ThreadTeamBegin, team<EventKind::team_begin>);
  SET(ThreadTeamEnd, team<EventKind::team_end>);
  SET(ThreadCreate, created_thread<EventKind::thread_create>);
  SET(ThreadBegin, created_thread<EventKind::thread_begin>);
  SET(ThreadWait, created_thread<EventKind::thread_wait>);
  SET(ThreadEnd, created_thread<EventKind::thread_end>);
  SET(ThreadTaskCreate, task<EventKind::task_create>);
  SET(ThreadTaskSwitch, task<EventKind::task_switch>);
  SET(ThreadAcquireLock, lock<EventKind::lock_acquire>);
  SET(ThreadReleaseLock, lock<EventKind::lock_release>);
  SET(OmpAcquireLock, omp_lock<EventKind::lock_acquire>);
  SET(OmpReleaseLock, omp_lock<EventKind::lock_release>);
  SET(Enter, [](HEAD, U32 region) {
    sink(data, time).enter(time, region);
    return OTF2_CALLBACK_SUCCESS;
  });
  SET(Leave, [](HEAD, U32 region) {
    sink(data, time).leave(time, region);
    return OTF2_CALLBACK_SUCCESS;
  });
}

OTF2_CallbackCode rma_lock(HEAD, U32, U32, U64, OTF2_LockType) {
  sink(data, time).add({.time = time, .kind = EventKind::rma_lock});
  return OTF2_CALLBACK_SUCCESS;
}

void set_rma_callbacks(OTF2_EvtReaderCallbacks* callbacks) {
  SET(RmaCollectiveBegin, bare<EventKind::rma_collective_begin>);
  SET(RmaCollectiveEnd, [](HEAD, OTF2_CollectiveOp op, OTF2_RmaSyncLevel level, U32 window,
                           U32 root, U64 sent, U64 received) {
    auto& me = sink(data, time);
    me.add({.time = time,
            .comm = me.window(window),
            .peer = root,
            .tag = level,
            .kind = EventKind::rma_collective_end,
            .op = op,
            .flags = flags(sent, received)});
    return OTF2_CALLBACK_SUCCESS;
  });
  SET(RmaGroupSync, [](HEAD, OTF2_RmaSyncLevel level, U32 window, U32 group) {
    auto& me = sink(data, time);
    me.add_group_sync({.time = time,
                       .comm = me.window(window),
                       .peer = me.group(group),
                       .tag = level,
                       .kind = EventKind::rma_group_sync,
                       .op = static_cast<std::uint8_t>(me.group_role())});
    return OTF2_CALLBACK_SUCCESS;
  });
  SET(RmaSync, [](HEAD, U32 window, U32 remote, OTF2_RmaSyncType type) {
    auto& me = sink(data, time);
    me.add({.time = time,
            .comm = me.window(window),
            .peer = remote,
            .kind = EventKind::rma_notify,
            .op = type});
    return OTF2_CALLBACK_SUCCESS;
  });
  SET(RmaRequestLock, rma_lock);
  SET(RmaAcquireLock, rma_lock);
  SET(RmaTryLock, rma_lock);
  SET(RmaReleaseLock, [](HEAD, U32, U32, U64) {
    sink(data, time).add({.time = time, .kind = EventKind::rma_lock, .op = 1});
    return OTF2_CALLBACK_SUCCESS;
  });
}

#undef SET
#undef HEAD

}  // namespace

void set_skeleton_callbacks(OTF2_EvtReaderCallbacks* callbacks) {
  set_mpi_callbacks(callbacks);
  set_thread_callbacks(callbacks);
  set_rma_callbacks(callbacks);
  OTF2_EvtReaderCallbacks_SetUnknownCallback(
      callbacks, [](OTF2_LocationRef, OTF2_TimeStamp time, U64, void* data, OTF2_AttributeList*) {
        sink(data, time).unknown();
        return OTF2_CALLBACK_SUCCESS;
      });
}

}  // namespace entrain::test
