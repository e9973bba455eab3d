// SPDX-License-Identifier: BSD-3-Clause
#include "otf2/scan.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "otf2/records.hpp"

namespace entrain::otf2 {

namespace {

using trace::Event;
using trace::EventKind;

constexpr std::uint64_t k_last_time = std::uint64_t{1} << 61;  ///< larger stamps are nonsense

/// Local id -> position of the global definition, remembered for small ids.
class Resolver {
 public:
  Resolver(const IdMapping& mapping, const References::Map& positions)
      : mapping_(mapping), positions_(positions) {}

  std::uint32_t operator()(std::uint32_t local) {
    if (local < memory_.size() && memory_[local] != k_unknown) return memory_[local];
    const std::uint64_t global = mapping_(local);
    const auto found = positions_.find(static_cast<std::uint32_t>(global));
    const std::uint32_t position =
        global > k_none || found == positions_.end() ? k_none : found->second;
    if (local < k_remembered) {
      if (local >= memory_.size()) memory_.resize(local + 1, k_unknown);
      memory_[local] = position;
    }
    return position;
  }

 private:
  static constexpr std::uint32_t k_unknown = k_none - 1;
  static constexpr std::uint32_t k_remembered = 1u << 16;
  const IdMapping& mapping_;
  const References::Map& positions_;
  std::vector<std::uint32_t> memory_;
};

/// Turns records into skeleton events.
class Scanner {
 public:
  Scanner(const LocalDefinitions& local, const References& references,
          trace::LocationSkeleton& skeleton)
      : references_(references),
        skeleton_(skeleton),
        comms_(local.comms, references.comms),
        regions_(local.regions, references.regions),
        windows_(local.windows, references.windows),
        groups_(local.groups, references.groups) {}

  void chunk(const std::uint8_t* bytes, bool big_endian) {
    chunk_ = bytes;
    big_endian_ = big_endian;
  }

  bool stamp(std::size_t, std::uint64_t time) {
    if (time > k_last_time) return false;
    if (!has_time_) {
      skeleton_.first = time;
      has_time_ = true;
    } else if (time > time_) {
      const std::uint64_t step = time - time_;
      if (skeleton_.granule == 0 || step < skeleton_.granule) skeleton_.granule = step;
    } else if (time < time_ && skeleton_.decreasing.empty()) {
      skeleton_.decreasing = fmt::format("event {} at {} after {}", skeleton_.event_count + 1, time,
                                         time_);
    }
    time_ = time;
    return true;
  }

  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    if (!has_time_) return false;
    ++skeleton_.event_count;
    skeleton_.last = std::max(skeleton_.last, time_);
    FieldReader in(chunk_ + offset, size, big_endian_);
    decode(type, in);
    return in.ok();
  }

 private:
  void decode(std::uint8_t type, FieldReader& in) {
    switch (type) {
      case event::buffer_flush: return flush(in);
      case event::enter: return region(in, true);
      case event::leave: return region(in, false);
      case event::mpi_send: return message(EventKind::send, in, false);
      case event::mpi_isend: return message(EventKind::isend, in, true);
      case event::mpi_recv: return message(EventKind::recv, in, false);
      case event::mpi_irecv: return message(EventKind::irecv, in, true);
      case event::mpi_irecv_request: return request(EventKind::irecv_request, in);
      case event::mpi_request_cancelled: return request(EventKind::request_cancelled, in);
      case event::mpi_collective_begin: add(EventKind::collective_begin); return;
      case event::mpi_collective_end: return collective(EventKind::collective_end, in, false);
      case event::nb_collective_request: return request(EventKind::nb_request, in);
      case event::nb_collective_complete: return collective(EventKind::nb_complete, in, true);
      case event::thread_fork: add(EventKind::thread_fork); return;
      case event::thread_join: add(EventKind::thread_join); return;
      case event::thread_team_begin: return team(EventKind::team_begin, in);
      case event::thread_team_end: return team(EventKind::team_end, in);
      case event::thread_create: return contingent(EventKind::thread_create, in);
      case event::thread_begin: return contingent(EventKind::thread_begin, in);
      case event::thread_wait: return contingent(EventKind::thread_wait, in);
      case event::thread_end: return contingent(EventKind::thread_end, in);
      case event::thread_acquire_lock: return lock(EventKind::lock_acquire, in, in.u8());
      case event::thread_release_lock: return lock(EventKind::lock_release, in, in.u8());
      case event::omp_acquire_lock: return lock(EventKind::lock_acquire, in, k_openmp);
      case event::omp_release_lock: return lock(EventKind::lock_release, in, k_openmp);
      case event::thread_task_create: return task(EventKind::task_create, in);
      case event::thread_task_switch: return task(EventKind::task_switch, in);
      case event::rma_collective_begin: add(EventKind::rma_collective_begin); return;
      case event::rma_collective_end: return rma_collective(in);
      case event::rma_group_sync: return group_sync(in);
      case event::rma_sync: return rma_sync(in);
      case event::rma_request_lock:
      case event::rma_acquire_lock:
      case event::rma_try_lock:
      case event::rma_release_lock: add(EventKind::rma_lock); return;
      default:
        if (type > event::last_known) ++skeleton_.unknown_records;
    }
  }

  Event& add(EventKind kind) {
    Event& event = skeleton_.events.emplace_back();
    event.time = time_;
    event.kind = kind;
    return event;
  }
  /// Position of a definition; an undefined one is counted.
  std::uint32_t position(Resolver& resolver, std::uint32_t local) {
    const std::uint32_t result = resolver(local);
    if (result == k_none) ++skeleton_.undefined_references;
    return result;
  }

  void flush(FieldReader& in) {
    const std::uint64_t stop = in.fixed64();
    skeleton_.flushes.push_back({time_, std::max(stop, time_)});
  }
  void region(FieldReader& in, bool enter) {
    if (!references_.any_region_role) return;
    const std::uint32_t at = regions_(in.c32());
    if (at == k_none) return;
    switch (references_.region_roles[at]) {
      case RegionRole::other: return;
      case RegionRole::mpi_init:
        add(enter ? EventKind::init_enter : EventKind::init_leave);
        return;
      case RegionRole::mpi_finalize:
        add(enter ? EventKind::finalize_enter : EventKind::finalize_leave);
        return;
      case RegionRole::thread_barrier:
        add(enter ? EventKind::barrier_enter : EventKind::barrier_leave);
        return;
      case RegionRole::win_post: window_call(trace::RmaGroupRole::post, enter); return;
      case RegionRole::win_start: window_call(trace::RmaGroupRole::start, enter); return;
      case RegionRole::win_complete: window_call(trace::RmaGroupRole::complete, enter); return;
      case RegionRole::win_wait: window_call(trace::RmaGroupRole::wait, enter); return;
    }
  }
  void window_call(trace::RmaGroupRole role, bool enter) {
    group_role_ = enter ? role : trace::RmaGroupRole::unknown;
    for (const Event& waiting : waiting_syncs_) {
      skeleton_.events.push_back(waiting);
      skeleton_.events.back().time = time_;
    }
    waiting_syncs_.clear();
  }
  void message(EventKind kind, FieldReader& in, bool with_request) {
    Event& event = add(kind);
    event.peer = in.c32();
    event.comm = position(comms_, in.c32());
    event.tag = in.c32();
    in.c64();
    if (with_request) event.id = in.c64();
  }
  void request(EventKind kind, FieldReader& in) { add(kind).id = in.c64(); }
  void collective(EventKind kind, FieldReader& in, bool with_request) {
    Event& event = add(kind);
    event.op = in.u8();
    event.comm = position(comms_, in.c32());
    event.peer = in.c32();
    volume(event, in);
    if (with_request) event.id = in.c64();
  }
  static void volume(Event& event, FieldReader& in) {
    if (in.c64() > 0) event.flags |= trace::k_sent;
    if (in.c64() > 0) event.flags |= trace::k_received;
  }
  void team(EventKind kind, FieldReader& in) {
    add(kind).comm = position(comms_, in.c32());
  }
  void contingent(EventKind kind, FieldReader& in) {
    Event& event = add(kind);
    event.comm = position(comms_, in.c32());
    event.id = in.c64();
  }
  void lock(EventKind kind, FieldReader& in, std::uint8_t paradigm) {
    Event& event = add(kind);
    event.op = paradigm;
    event.peer = in.c32();
    event.tag = in.c32();
  }
  void task(EventKind kind, FieldReader& in) {
    Event& event = add(kind);
    event.comm = position(comms_, in.c32());
    event.peer = in.c32();
    event.tag = in.c32();
  }
  void rma_collective(FieldReader& in) {
    Event& event = add(EventKind::rma_collective_end);
    event.op = in.u8();
    event.tag = in.c32();
    event.comm = position(windows_, in.c32());
    event.peer = in.c32();
    volume(event, in);
  }
  void group_sync(FieldReader& in) {
    using trace::RmaGroupRole;
    // Tracers stamp the record with the begin of its call. What start and wait have waited for is
    // certain only at their end.
    const bool waits = group_role_ == RmaGroupRole::start || group_role_ == RmaGroupRole::wait;
    Event& event =
        waits ? waiting_syncs_.emplace_back() : add(EventKind::rma_group_sync);
    event.kind = EventKind::rma_group_sync;
    event.op = static_cast<std::uint8_t>(group_role_);
    event.tag = in.c32();
    event.comm = position(windows_, in.c32());
    event.peer = position(groups_, in.c32());
  }
  void rma_sync(FieldReader& in) {
    Event& event = add(EventKind::rma_notify);
    event.comm = position(windows_, in.c32());
    event.peer = in.c32();
    event.op = in.u8();
  }

  static constexpr std::uint8_t k_openmp = 3;  ///< OTF2_PARADIGM_OPENMP
  const References& references_;
  trace::LocationSkeleton& skeleton_;
  Resolver comms_, regions_, windows_, groups_;
  const std::uint8_t* chunk_ = nullptr;
  bool big_endian_ = false;
  bool has_time_ = false;
  std::uint64_t time_ = 0;
  trace::RmaGroupRole group_role_ = trace::RmaGroupRole::unknown;
  std::vector<Event> waiting_syncs_;  ///< of a start or wait that has not ended
};

/// Follows Enter and Leave up to a given time.
class RegionFinder {
 public:
  RegionFinder(const LocalDefinitions& local, const References& references, std::uint64_t time)
      : regions_(local.regions, references.regions), wanted_(time) {}

  void chunk(const std::uint8_t* bytes, bool big_endian) {
    chunk_ = bytes;
    big_endian_ = big_endian;
  }
  bool stamp(std::size_t, std::uint64_t time) {
    if (found_ && time > wanted_) return false;  // ends the walk
    found_ = time >= wanted_;
    return true;
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    if (type != event::enter && type != event::leave) return !found_;
    if (type == event::leave && found_) return false;
    FieldReader in(chunk_ + offset, size, big_endian_);
    const std::uint32_t region = regions_(in.c32());
    if (type == event::enter) {
      stack_.push_back(region);
    } else if (!stack_.empty()) {
      stack_.pop_back();
    }
    return true;
  }
  [[nodiscard]] std::uint32_t innermost() const { return stack_.empty() ? k_none : stack_.back(); }

 private:
  Resolver regions_;
  std::uint64_t wanted_;
  bool found_ = false;
  const std::uint8_t* chunk_ = nullptr;
  bool big_endian_ = false;
  std::vector<std::uint32_t> stack_;
};

}  // namespace

Result<void> scan_events(const std::filesystem::path& path, std::uint64_t chunk_size,
                         const LocalDefinitions& local, const References& references,
                         trace::LocationSkeleton& skeleton) {
  if (!file_exists(path)) {
    skeleton.event_file_missing = true;
    return {};
  }
  TRY_ASSIGN(BlockReader reader, BlockReader::open(path, chunk_size));
  Scanner scanner(local, references, skeleton);
  // The first block tells how many events to expect: growing the vector copies it again and again.
  const auto reserve = [&](std::span<const std::uint8_t> block) {
    if (reader.offset() == 0 && !block.empty()) {
      const std::uint64_t blocks = reader.file_size() / block.size();
      skeleton.events.reserve(skeleton.events.size() * blocks + skeleton.events.size() * blocks / 16);
    }
    return Result<void>();
  };
  TRY_ASSIGN(const FileEnd end, walk_file<Framing::events>(reader, scanner, reserve));
  skeleton.truncated = end.truncated;
  skeleton.events.shrink_to_fit();
  return {};
}

std::uint32_t find_region(const std::filesystem::path& path, std::uint64_t chunk_size,
                          const LocalDefinitions& local, const References& references,
                          std::uint64_t time) {
  auto reader = BlockReader::open(path, chunk_size);
  if (!reader) return k_none;
  RegionFinder finder(local, references, time);
  // The finder ends the walk when it is done, which walk_file reports as damage: no matter here.
  (void)walk_file<Framing::events>(*reader, finder, [](auto) { return Result<void>(); });
  return finder.innermost();
}

}  // namespace entrain::otf2
