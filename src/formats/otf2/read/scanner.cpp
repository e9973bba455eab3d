// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/scanner.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/block_reader.hpp"

namespace entrain::otf2 {

namespace {

using trace::RmaGroupRole;

/// Record types that decode() looks at, and those that nobody knows: first and last ones.
constexpr std::array<std::pair<std::uint8_t, std::uint8_t>, 10> k_interesting{
    {{mark::attribute_list, mark::attribute_list},
     {event::buffer_flush, event::mpi_isend},
     {event::mpi_irecv_request, event::mpi_irecv},
     {event::mpi_request_cancelled, event::mpi_collective_end},
     {event::omp_acquire_lock, event::omp_release_lock},
     {event::rma_collective_begin, event::rma_sync},
     {event::thread_fork, event::thread_task_switch},
     {event::thread_create, event::thread_end},
     {event::nb_collective_request, event::nb_collective_complete},
     {event::last_known + 1, 0xFF}}};

/// Record types of which only the number counts. Enter and Leave are not among them, because their
/// region decides, nor attribute lists, which are no events.
constexpr LengthLimits k_uninteresting = [] {
  LengthLimits limits = k_plain_records;
  for (const auto& [first, last] : k_interesting) {
    std::fill(limits.begin() + first, limits.begin() + last + 1, std::uint16_t{0});
  }
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

/// Room for more events than this is made only when half of them are there: a file may begin with
/// far more communication than it holds later.
constexpr std::uint64_t k_most_foreseen = std::uint64_t{1} << 24;
/// Vectors with less room than this are cut to their size.
constexpr std::size_t k_small = 1 << 13;

/// Makes room for the events of the rest of the file, before there are `more` of them again:
/// growing a vector step by step would copy it again and again.
void make_room(const BlockReader& reader, std::size_t more, trace::EventList& events) {
  const std::uint64_t size = events.size(), read = reader.next_offset();
  if (size + more <= events.capacity() || read >= reader.file_size()) return;
  const double expected = static_cast<double>(size) * static_cast<double>(reader.file_size()) /
                          static_cast<double>(read) * 17 / 16;
  const std::uint64_t most = std::max(k_most_foreseen, 2 * size);
  events.reserve(more + static_cast<std::uint64_t>(std::min(expected, static_cast<double>(most))));
}

}  // namespace

bool Scanner::stamp(std::size_t, std::uint64_t time) {
  if (time > k_last_time) {
    const std::uint64_t below = 0 - time;
    if (!has_time_ && below <= k_last_time) below_zero_ = below;
    return false;
  }
  if (!has_time_) {
    has_time_ = true;
    skeleton_.first = time;
  } else if (time > time_) {
    const std::uint64_t step = time - time_;
    if (skeleton_.granule == 0 || step < skeleton_.granule) skeleton_.granule = step;
  } else if (time < time_ && skeleton_.decreasing.empty()) {
    skeleton_.decreasing =
        fmt::format("event {} at {} after {}", skeleton_.event_count + 1, time, time_);
  }
  time_ = time;
  return true;
}

/// Refuses a record before the first stamp, and one whose fields run past its end.
bool Scanner::record(std::uint8_t type, std::size_t offset, std::size_t size) {
  if (!has_time_) return false;
  FieldReader in = fields(offset, size);
  decode(type, in);
  ++skeleton_.event_count;
  skeleton_.last = std::max(skeleton_.last, time_);
  return in.ok();
}

/// Looks for the attribute that names the partners or the stream of a call. A list that is not
/// understood is as good as none.
void Scanner::attributes(std::size_t offset, std::size_t size) {
  if (references_.partners_attribute == k_none && references_.stream_attribute == k_none) return;
  FieldReader in = fields(offset, size);
  const std::uint32_t count = in.c32();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    const std::uint64_t attribute = attributes_(in.c32());
    const std::uint8_t type = in.u8();
    const std::uint64_t next = skeleton_.event_count;
    if (attribute == k_none) {
      skip_value(type, in);
    } else if (type == attribute_type::string && attribute == references_.partners_attribute) {
      named_partners_ = {in.c32(), next};
    } else if (type == attribute_type::location && attribute == references_.stream_attribute) {
      named_stream_ = {references_.accelerator(in.c64(), location_), next};
    } else {
      skip_value(type, in);
    }
    if (!in.ok()) named_partners_ = named_stream_ = {};
  }
}

/// Alternates between skipping and decoding. Both use the same decode() as record(), here with the
/// unchecked QuickFields; a record that they find wrong is left to record(), which refuses it.
std::size_t Scanner::hurry(std::size_t at, std::size_t limit) {
  if (!has_time_) return at;
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
  using enum Field;
  switch (type) {
    case event::buffer_flush:
      skeleton_.flushes.push_back({time_, std::max(in.fixed64(), time_)});
      return;
    case event::measurement_on_off:
      return measurement(in.u8() == k_measurement_on);
    case event::enter:
    case event::leave:
      if (references_.any_region_role) region(in.c32(), type == event::enter);
      return;
    case event::mpi_send:
      return add(read_as<peer, comm, tag, length>(EventKind::send, in));
    case event::mpi_isend:
      return add(read_as<peer, comm, tag, length, id>(EventKind::isend, in));
    case event::mpi_recv:
      return add(read_as<peer, comm, tag, length>(EventKind::recv, in));
    case event::mpi_irecv:
      return add(read_as<peer, comm, tag, length, id>(EventKind::irecv, in));
    case event::mpi_irecv_request:
      return add(read_as<id>(EventKind::irecv_request, in));
    case event::mpi_request_cancelled:
      return add(read_as<id>(EventKind::request_cancelled, in));
    case event::mpi_collective_begin:
      return add(read_as<>(EventKind::collective_begin, in));
    case event::mpi_collective_end:
      return collective(read_as<operation, comm, peer, sizes>(EventKind::collective_end, in));
    case event::nb_collective_request:
      return add(read_as<id>(EventKind::nb_request, in));
    case event::nb_collective_complete:
      return collective(read_as<operation, comm, peer, sizes, id>(EventKind::nb_complete, in));
    case event::thread_fork:
      return add(read_as<>(EventKind::thread_fork, in));
    case event::thread_join:
      return add(read_as<>(EventKind::thread_join, in));
    case event::thread_team_begin:
      return add(read_as<comm>(EventKind::team_begin, in));
    case event::thread_team_end:
      return add(read_as<comm>(EventKind::team_end, in));
    case event::thread_create:
      return add(read_as<comm, id>(EventKind::thread_create, in));
    case event::thread_begin:
      return add(read_as<comm, id>(EventKind::thread_begin, in));
    case event::thread_wait:
      return add(read_as<comm, id>(EventKind::thread_wait, in));
    case event::thread_end:
      return add(read_as<comm, id>(EventKind::thread_end, in));
    case event::thread_acquire_lock:
      return add(read_as<operation, peer, tag>(EventKind::lock_acquire, in));
    case event::thread_release_lock:
      return add(read_as<operation, peer, tag>(EventKind::lock_release, in));
    case event::omp_acquire_lock:
    case event::omp_release_lock: {
      const bool acquires = type == event::omp_acquire_lock;
      Event lock =
          read_as<peer, tag>(acquires ? EventKind::lock_acquire : EventKind::lock_release, in);
      lock.op = k_openmp;
      return add(lock);
    }
    case event::thread_task_create:
      return add(read_as<comm, peer, tag>(EventKind::task_create, in));
    case event::thread_task_switch:
      return add(read_as<comm, peer, tag>(EventKind::task_switch, in));
    case event::rma_collective_begin:
      return add(read_as<>(EventKind::rma_collective_begin, in));
    case event::rma_collective_end:
      return add(read_as<operation, tag, window, peer, volume>(EventKind::rma_collective_end, in));
    case event::rma_group_sync:
      return group_sync(read_as<tag, window, group>(EventKind::rma_group_sync, in));
    case event::rma_sync:
      return add(read_as<window, peer, operation>(EventKind::rma_notify, in));
    case event::rma_request_lock:
    case event::rma_acquire_lock:
    case event::rma_try_lock:
    case event::rma_release_lock: {
      Event lock = read_as<>(EventKind::rma_lock, in);
      lock.op = type == event::rma_release_lock ? 1 : 0;
      return add(lock);
    }
    default:
      if (type > event::last_known) ++skeleton_.unknown_records;
  }
}

template <Scanner::Field field, class Fields>
void Scanner::put(Event& event, Fields& in) {
  using enum Field;
  if constexpr (field == peer) event.peer = in.c32();
  if constexpr (field == tag) event.tag = in.c32();
  if constexpr (field == comm) event.comm = position(comms_, in.c32());
  if constexpr (field == window) event.comm = position(windows_, in.c32());
  if constexpr (field == group) event.peer = position(groups_, in.c32());
  if constexpr (field == operation) event.op = in.u8();
  if constexpr (field == length) trace::set_length(event, in.c64());
  if constexpr (field == id) event.id = in.c64();
  if constexpr (field == volume || field == sizes) {
    const std::uint64_t sent = in.c64();
    if (sent > 0) event.flags |= trace::k_sent;
    if (in.c64() > 0) event.flags |= trace::k_received;
    if (field == sizes) event.tag = trace::size_code(sent);
  }
}

template <Scanner::Field... fields, class Fields>
trace::Event Scanner::read_as(EventKind kind, [[maybe_unused]] Fields& in) {
  Event event;
  event.time = time_;
  event.kind = kind;
  (put<fields>(event, in), ...);
  return event;
}

/// Position of a definition; an undefined one is counted.
std::uint32_t Scanner::position(Resolver& resolver, std::uint32_t local) {
  const std::uint32_t result = resolver(local);
  if (result == k_none) ++skeleton_.undefined_references;
  return result;
}

/// Off begins a gap, on ends it.
void Scanner::measurement(bool on) {
  std::vector<trace::Gap>& gaps = skeleton_.gaps;
  const bool open = !gaps.empty() && gaps.back().end == trace::Gap::k_open;
  if (!on) {
    if (!open) gaps.push_back({.begin = time_});
  } else if (open) {
    gaps.back().end = time_;
  }
}

void Scanner::region(std::uint32_t local, bool enter) {
  const std::uint32_t at = regions_(local);
  const auto call = [&](EventKind begin, EventKind end) {
    Event event;
    event.time = time_;
    event.kind = enter ? begin : end;
    add(event);
  };
  switch (at == k_none ? RegionRole::other : references_.region_roles[at]) {
    case RegionRole::other:
      return remember_dull(local);
    case RegionRole::mpi_init:
      return call(EventKind::init_enter, EventKind::init_leave);
    case RegionRole::mpi_finalize:
      return call(EventKind::finalize_enter, EventKind::finalize_leave);
    case RegionRole::neighbours:
      return call(EventKind::neighbours_enter, EventKind::neighbours_leave);
    case RegionRole::thread_barrier:
      return call(EventKind::barrier_enter, EventKind::barrier_leave);
    case RegionRole::win_post:
      return window_call(RmaGroupRole::post, enter);
    case RegionRole::win_start:
      return window_call(RmaGroupRole::start, enter);
    case RegionRole::win_complete:
      return window_call(RmaGroupRole::complete, enter);
    case RegionRole::win_wait:
      return window_call(RmaGroupRole::wait, enter);
    case RegionRole::kernel:
      return call(EventKind::kernel_begin, EventKind::kernel_end);
    case RegionRole::kernel_launch:
    case RegionRole::stream_wait:
    case RegionRole::device_wait:
      return accelerator_call(references_.region_roles[at], enter);
  }
}

/// Enter and Leave of this region yield no event: pass_over() may skip them from now on.
void Scanner::remember_dull(std::uint32_t local) {
  if (local >= k_remembered_regions) return;
  if (local >= dull_regions_.size()) dull_regions_.resize(local + 1);
  dull_regions_[local] = 1;
}

void Scanner::window_call(trace::RmaGroupRole role, bool enter) {
  role_ = enter ? role : RmaGroupRole::unknown;
  for (Event& sync : waiting_syncs_) {
    sync.time = time_;
    add(sync);
  }
  waiting_syncs_.clear();
}

/// A launch counts when it begins, a call that waits when it ends.
void Scanner::accelerator_call(RegionRole role, bool enter) {
  if (enter != (role == RegionRole::kernel_launch)) return;
  Event event;
  event.time = time_;
  event.kind = enter ? EventKind::kernel_launch : EventKind::stream_wait;
  const bool is_named =
      named_stream_.event == skeleton_.event_count && role != RegionRole::device_wait;
  if (is_named) event.peer = named_stream_.value;
  if (event.peer != k_none || role != RegionRole::stream_wait) add(event);
}

/// The partners that a list of attributes names take the place of the root, which these operations
/// have not.
void Scanner::collective(Event event) {
  const bool is_named = named_partners_.event == skeleton_.event_count &&
                        (event.op == trace::op::alltoallv || event.op == trace::op::alltoallw);
  const std::uint32_t list = is_named ? position(partners_, named_partners_.value) : k_none;
  if (list != k_none) {
    event.flags |= trace::k_partners;
    event.peer = list;
  }
  add(event);
}

/// Tracers stamp the record with the begin of its call. But MPI_Win_start and MPI_Win_wait have
/// waited for the others only at their end, so their syncs are kept until the Leave.
void Scanner::group_sync(Event event) {
  event.op = static_cast<std::uint8_t>(role_);
  if (role_ == RmaGroupRole::start || role_ == RmaGroupRole::wait) {
    waiting_syncs_.push_back(event);
  } else {
    add(event);
  }
}

Result<trace::LocationSkeleton> scan_events(const EventFile& file, Progress* progress) {
  trace::LocationSkeleton skeleton;
  auto reader = BlockReader::open(file.path, file.chunk_size);
  // Looked for only now: nearly all of these files are there.
  if (!reader && !file_exists(file.path)) {
    skeleton.event_file_missing = true;
    return skeleton;
  }
  TRY_ASSIGN(BlockReader opened, std::move(reader));
  Scanner scanner(file.local, file.references, skeleton, file.location);
  std::size_t before = 0;
  const auto on_block = [&](std::span<const std::uint8_t> block) -> Result<void> {
    TRY(count_block(progress, block));
    const std::size_t size = skeleton.events.size();
    make_room(opened, size - std::exchange(before, size), skeleton.events);
    return {};
  };
  const auto end = walk_file<Framing::events>(opened, scanner, on_block);
  if (!end && scanner.below_zero() > 0) {
    return input_error(
        "{} begins at -{} ticks, stored as 2^64 - {}: clocks that count below 0 cannot be read; "
        "add "
        "a constant to all stamps of this location",
        file.path.string(), scanner.below_zero(), scanner.below_zero());
  }
  if (!end) return tl::unexpected(end.error());
  skeleton.truncated = *end;
  // Unused room of up to a half stays in a large list: its pages were never touched and take no
  // memory.
  const std::size_t size = skeleton.events.size(), capacity = skeleton.events.capacity();
  skeleton.events.settle(capacity < k_small || capacity > size + size / 2);
  return skeleton;
}

}  // namespace entrain::otf2
