// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/scanner.hpp"

namespace entrain::otf2 {

namespace {

using trace::RmaGroupRole;

/// Record types of which only the number counts. Enter and Leave are not among them, because their
/// region decides, nor attribute lists, which are no events.
constexpr LengthLimits k_uninteresting = [] {
  LengthLimits limits = except(k_plain_records, {mark::attribute_list,
                                                 event::buffer_flush,
                                                 event::measurement_on_off,
                                                 event::enter,
                                                 event::leave,
                                                 event::mpi_send,
                                                 event::mpi_isend,
                                                 event::mpi_recv,
                                                 event::mpi_irecv,
                                                 event::mpi_irecv_request,
                                                 event::mpi_request_cancelled,
                                                 event::mpi_collective_begin,
                                                 event::mpi_collective_end,
                                                 event::nb_collective_request,
                                                 event::nb_collective_complete,
                                                 event::thread_fork,
                                                 event::thread_join,
                                                 event::thread_team_begin,
                                                 event::thread_team_end,
                                                 event::thread_create,
                                                 event::thread_begin,
                                                 event::thread_wait,
                                                 event::thread_end,
                                                 event::thread_acquire_lock,
                                                 event::thread_release_lock,
                                                 event::omp_acquire_lock,
                                                 event::omp_release_lock,
                                                 event::thread_task_create,
                                                 event::thread_task_switch,
                                                 event::rma_collective_begin,
                                                 event::rma_collective_end,
                                                 event::rma_group_sync,
                                                 event::rma_sync,
                                                 event::rma_request_lock,
                                                 event::rma_acquire_lock,
                                                 event::rma_try_lock,
                                                 event::rma_release_lock});
  for (unsigned type = event::last_known + 1; type < limits.size(); ++type) limits[type] = 0;
  return limits;
}();

/// The same for a trace without regions that matter: Enter and Leave are only counted, too.
constexpr LengthLimits k_uninteresting_without_roles = [] {
  LengthLimits limits = k_uninteresting;
  limits[event::enter] = limits[event::leave] = k_plain_records[event::enter];
  return limits;
}();

/// Passes over the value of an attribute.
void skip_value(std::uint8_t type, FieldReader& in) {
  const bool one_byte = type == attribute_type::uint8 || type == attribute_type::int8;
  if (type == attribute_type::float64) {
    in.fixed64();
  } else if (one_byte || type == attribute_type::float32) {
    for (int bytes = one_byte ? 1 : 4; bytes > 0; --bytes) in.u8();
  } else {
    in.c64();
  }
}

constexpr std::uint8_t k_measurement_on = 1;  ///< OTF2_MEASUREMENT_ON

constexpr bool is_region_record(std::size_t type) { return type >> 1 == event::enter >> 1; }
static_assert(event::leave == event::enter + 1 && event::enter % 2 == 0);

}  // namespace

bool Scanner::stamp(std::size_t, std::uint64_t time) {
  if (time > k_last_time) return false;
  if (!part_.has_stamp) {
    part_.has_stamp = has_time_ = true;
    part_.first_stamp = time;
    part_.records_before_stamp = skeleton_.event_count;
  } else if (time > time_) {
    const std::uint64_t step = time - time_;
    if (skeleton_.granule == 0 || step < skeleton_.granule) skeleton_.granule = step;
  } else if (time < time_ && !part_.decrease) {
    part_.decrease = {skeleton_.event_count, time, time_};
  }
  part_.last_stamp = time_ = time;
  return true;
}

/// Refuses a record before the first stamp, and one whose fields run past its end.
bool Scanner::record(std::uint8_t type, std::size_t offset, std::size_t size) {
  if (!has_time_) {
    part_.needs_time = true;
    return false;
  }
  FieldReader in(chunk_ + offset, size, big_endian_);
  decode(type, in);
  ++skeleton_.event_count;
  skeleton_.last = std::max(skeleton_.last, time_);
  return in.ok();
}

/// Looks for the attribute that names the partners of a call. A list that is not understood is as
/// good as none.
void Scanner::attributes(std::size_t offset, std::size_t size) {
  if (references_.partners_attribute == k_none) return;
  FieldReader in(chunk_ + offset, size, big_endian_);
  const std::uint32_t count = in.c32();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    const std::uint64_t attribute = attributes_(in.c32());
    const std::uint8_t type = in.u8();
    if (type == attribute_type::string && attribute == references_.partners_attribute) {
      named_ = in.c32();
      named_after_ = in.ok() ? skeleton_.event_count : named_after_;
      return;
    }
    skip_value(type, in);
  }
}

/// Alternates between skipping and decoding. Both use the same decode() as record(), here with the
/// unchecked QuickFields; a record that they find wrong is left to record(), which refuses it.
std::size_t Scanner::hurry(std::size_t at, std::size_t limit) {
  if (!part_.has_stamp) return at;
  const std::uint8_t* p = chunk_ + at;
  const std::uint8_t* const end = chunk_ + limit;
  while ((p = pass_over(p, end)) < end) {
    const std::uint8_t type = p[0], length = p[1];
    if (length >= k_plain_records[type]) break;
    if (type != mark::attribute_list) {
      const std::size_t size_byte = is_bare(type) ? 1 : 0;  // is part of the payload
      QuickFields in(p + 2 - size_byte, length + size_byte);
      decode(type, in);
      if (!in.ok()) break;
      ++skeleton_.event_count;
      skeleton_.last = std::max(skeleton_.last, time_);
    } else {
      attributes(static_cast<std::size_t>(p + 2 - chunk_), length);
    }
    p += 2 + length;
  }
  part_.last_stamp = time_;
  return static_cast<std::size_t>(p - chunk_);
}

/// Handles stamps, and events of which only the number counts, from `p` on, and returns the first
/// other one. Most events of a trace go through this loop. It calls no function, so that all its
/// numbers stay in registers; the members are read before and written after it.
const std::uint8_t* Scanner::pass_over(const std::uint8_t* p, const std::uint8_t* end) {
  const std::uint16_t* const uninteresting =
      (references_.any_region_role ? k_uninteresting : k_uninteresting_without_roles).data();
  const std::uint8_t* const dull = dull_regions_.data();
  const std::size_t dull_count = dull_regions_.size();
  // granule - 1 in place of the granule (smallest step above 0 so far, 0: none): "none" and a step
  // of 0 both wrap around to the largest number, so that min() ignores them without a branch.
  std::uint64_t granule_less_1 = skeleton_.granule - 1;
  std::uint64_t time = time_, last = skeleton_.last, count = 0;
  while (p < end) {
    if (*p == mark::stamp) {
      const std::uint64_t next = load_u64(p + 1, false);
      const std::uint64_t step = next - time;
      if ((next | step) >> k_time_bits != 0) break;  // too late, or earlier than the last one
      granule_less_1 = std::min(granule_less_1, step - 1);
      time = next;
      p += 9;
    }
    const std::size_t type = p[0], length = p[1];
    if (length >= uninteresting[type]) {
      if (!is_region_record(type) || length > 4) break;
      const std::uint64_t id = load_u64(p + 2, false) & k_low_bytes[length];
      if (id >= dull_count || dull[id] == 0) break;
    }
    ++count;
    last = time;
    p += 2 + length;
  }
  skeleton_.event_count += count;
  skeleton_.granule = granule_less_1 + 1;
  skeleton_.last = std::max(skeleton_.last, last);
  time_ = time;
  return p;
}

template <class Fields>
void Scanner::decode(std::uint8_t type, Fields& in) {
  switch (type) {
    case event::buffer_flush:
      return flush(in);
    case event::measurement_on_off:
      return measurement(in.u8() == k_measurement_on);
    case event::enter:
    case event::leave:
      if (references_.any_region_role) region(in.c32(), type == event::enter);
      return;
    case event::mpi_send:
      return message(EventKind::send, in, false);
    case event::mpi_isend:
      return message(EventKind::isend, in, true);
    case event::mpi_recv:
      return message(EventKind::recv, in, false);
    case event::mpi_irecv:
      return message(EventKind::irecv, in, true);
    case event::mpi_irecv_request:
      return request(EventKind::irecv_request, in.c64());
    case event::mpi_request_cancelled:
      return request(EventKind::request_cancelled, in.c64());
    case event::mpi_collective_begin:
      return add(begun(EventKind::collective_begin));
    case event::mpi_collective_end:
      return collective(EventKind::collective_end, in, false);
    case event::nb_collective_request:
      return request(EventKind::nb_request, in.c64());
    case event::nb_collective_complete:
      return collective(EventKind::nb_complete, in, true);
    case event::thread_fork:
      return add(begun(EventKind::thread_fork));
    case event::thread_join:
      return add(begun(EventKind::thread_join));
    case event::thread_team_begin:
      return team(EventKind::team_begin, in);
    case event::thread_team_end:
      return team(EventKind::team_end, in);
    case event::thread_create:
      return contingent(EventKind::thread_create, in);
    case event::thread_begin:
      return contingent(EventKind::thread_begin, in);
    case event::thread_wait:
      return contingent(EventKind::thread_wait, in);
    case event::thread_end:
      return contingent(EventKind::thread_end, in);
    case event::thread_acquire_lock:
      return lock(EventKind::lock_acquire, in, in.u8());
    case event::thread_release_lock:
      return lock(EventKind::lock_release, in, in.u8());
    case event::omp_acquire_lock:
      return lock(EventKind::lock_acquire, in, k_openmp);
    case event::omp_release_lock:
      return lock(EventKind::lock_release, in, k_openmp);
    case event::thread_task_create:
      return task(EventKind::task_create, in);
    case event::thread_task_switch:
      return task(EventKind::task_switch, in);
    case event::rma_collective_begin:
      return add(begun(EventKind::rma_collective_begin));
    case event::rma_collective_end:
      return rma_collective(in);
    case event::rma_group_sync:
      return group_sync(in);
    case event::rma_sync:
      return rma_sync(in);
    case event::rma_request_lock:
    case event::rma_acquire_lock:
    case event::rma_try_lock:
    case event::rma_release_lock: {
      Event lock = begun(EventKind::rma_lock);
      lock.op = type == event::rma_release_lock ? 1 : 0;
      return add(lock);
    }
    default:
      if (type > event::last_known) ++skeleton_.unknown_records;
  }
}

trace::Event Scanner::begun(EventKind kind) const {
  Event event;
  event.time = time_;
  event.kind = kind;
  return event;
}

void Scanner::request(EventKind kind, std::uint64_t id) {
  Event event = begun(kind);
  event.id = id;
  add(event);
}

/// Position of a definition; an undefined one is counted.
std::uint32_t Scanner::position(Resolver& resolver, std::uint32_t local) {
  const std::uint32_t result = resolver(local);
  if (result == k_none) ++skeleton_.undefined_references;
  return result;
}

template <class Fields>
void Scanner::flush(Fields& in) {
  const std::uint64_t stop = in.fixed64();
  skeleton_.flushes.push_back({time_, std::max(stop, time_)});
}

/// Off begins a gap, on ends it.
void Scanner::measurement(bool on) {
  std::vector<trace::Gap>& gaps = skeleton_.gaps;
  const bool open = !gaps.empty() && gaps.back().end == trace::Gap::k_open;
  if (!on) {
    if (!open) gaps.push_back({.begin = time_});
  } else if (open) {
    gaps.back().end = time_;
  } else if (gaps.empty() && !part_.switched_on_first) {
    part_.switched_on_first = true;
    part_.first_on = time_;
  }
}

void Scanner::region(std::uint32_t local, bool enter) {
  const std::uint32_t at = regions_(local);
  switch (at == k_none ? RegionRole::other : references_.region_roles[at]) {
    case RegionRole::other:
      return remember_dull(local);
    case RegionRole::mpi_init:
      add(begun(enter ? EventKind::init_enter : EventKind::init_leave));
      return;
    case RegionRole::mpi_finalize:
      add(begun(enter ? EventKind::finalize_enter : EventKind::finalize_leave));
      return;
    case RegionRole::neighbours:
      add(begun(enter ? EventKind::neighbours_enter : EventKind::neighbours_leave));
      return;
    case RegionRole::thread_barrier:
      add(begun(enter ? EventKind::barrier_enter : EventKind::barrier_leave));
      return;
    case RegionRole::win_post:
      return window_call(RmaGroupRole::post, enter);
    case RegionRole::win_start:
      return window_call(RmaGroupRole::start, enter);
    case RegionRole::win_complete:
      return window_call(RmaGroupRole::complete, enter);
    case RegionRole::win_wait:
      return window_call(RmaGroupRole::wait, enter);
  }
}

/// Enter and Leave of this region yield no event: pass_over() may skip them from now on.
void Scanner::remember_dull(std::uint32_t local) {
  if (local >= k_remembered_regions) return;
  if (local >= dull_regions_.size()) dull_regions_.resize(local + 1);
  dull_regions_[local] = 1;
}

void Scanner::window_call(RmaGroupRole role, bool enter) {
  if (!part_.first_window_call) part_.first_window_call = {skeleton_.events.size(), time_};
  part_.role = enter ? role : RmaGroupRole::unknown;
  append_syncs(skeleton_.events, part_.waiting_syncs, time_);
}

template <class Fields>
void Scanner::message(EventKind kind, Fields& in, bool with_request) {
  Event event = begun(kind);
  event.peer = in.c32();
  event.comm = position(comms_, in.c32());
  event.tag = in.c32();
  trace::set_length(event, in.c64());
  if (with_request) event.id = in.c64();
  add(event);
}

template <class Fields>
void Scanner::collective(EventKind kind, Fields& in, bool with_request) {
  Event event = begun(kind);
  event.op = in.u8();
  event.comm = position(comms_, in.c32());
  event.peer = in.c32();
  event.tag = trace::size_code(volume(event, in));
  if (with_request) event.id = in.c64();
  if (named_after_ == skeleton_.event_count) [[unlikely]]
    name_partners(event);
  add(event);
}

/// These operations have no root: the partners take its place.
void Scanner::name_partners(Event& event) {
  if (event.op != trace::op::alltoallv && event.op != trace::op::alltoallw) return;
  const std::uint32_t list = position(partners_, named_);
  if (list == k_none) return;
  event.flags |= trace::k_partners;
  event.peer = list;
}

/// Returns the bytes sent.
template <class Fields>
std::uint64_t Scanner::volume(Event& event, Fields& in) {
  const std::uint64_t sent = in.c64();
  if (sent > 0) event.flags |= trace::k_sent;
  if (in.c64() > 0) event.flags |= trace::k_received;
  return sent;
}

template <class Fields>
void Scanner::team(EventKind kind, Fields& in) {
  Event event = begun(kind);
  event.comm = position(comms_, in.c32());
  add(event);
}

template <class Fields>
void Scanner::contingent(EventKind kind, Fields& in) {
  Event event = begun(kind);
  event.comm = position(comms_, in.c32());
  event.id = in.c64();
  add(event);
}

template <class Fields>
void Scanner::lock(EventKind kind, Fields& in, std::uint8_t paradigm) {
  Event event = begun(kind);
  event.op = paradigm;
  event.peer = in.c32();
  event.tag = in.c32();
  add(event);
}

template <class Fields>
void Scanner::task(EventKind kind, Fields& in) {
  Event event = begun(kind);
  event.comm = position(comms_, in.c32());
  event.peer = in.c32();
  event.tag = in.c32();
  add(event);
}

template <class Fields>
void Scanner::rma_collective(Fields& in) {
  Event event = begun(EventKind::rma_collective_end);
  event.op = in.u8();
  event.tag = in.c32();
  event.comm = position(windows_, in.c32());
  event.peer = in.c32();
  volume(event, in);
  add(event);
}

template <class Fields>
void Scanner::group_sync(Fields& in) {
  // Tracers stamp the record with the begin of its call. But MPI_Win_start and MPI_Win_wait have
  // waited for the others only at their end, so their syncs are kept until the Leave.
  if (!part_.first_window_call) part_.early_syncs.push_back(skeleton_.events.size());
  Event event = begun(EventKind::rma_group_sync);
  event.op = static_cast<std::uint8_t>(part_.role);
  event.tag = in.c32();
  event.comm = position(windows_, in.c32());
  event.peer = position(groups_, in.c32());
  if (waits(part_.role)) {
    part_.waiting_syncs.push_back(event);
  } else {
    add(event);
  }
}

template <class Fields>
void Scanner::rma_sync(Fields& in) {
  Event event = begun(EventKind::rma_notify);
  event.comm = position(windows_, in.c32());
  event.peer = in.c32();
  event.op = in.u8();
  add(event);
}

}  // namespace entrain::otf2
