// SPDX-License-Identifier: BSD-3-Clause
// The target that corrects: reading, matching, amortization, writing and verification in a row.
#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include <entrain/entrain.hpp>

#include "fuzz/scratch.hpp"
#include "otf2/format.hpp"

namespace entrain::fuzz {

namespace fs = std::filesystem;
namespace event = otf2::event;

namespace {

// Of the archive that Scratch makes: processes with one location each, and definitions by id.
constexpr std::array<std::uint64_t, 3> k_locations{0, 7, (std::uint64_t{1} << 32) + 7};
constexpr unsigned k_comms = 5, k_windows = 2, k_regions = 11;
constexpr std::uint32_t k_first_group = 4;

/// The event file of one location, byte by byte.
class Stream {
 public:
  Stream() : bytes_{otf2::mark::chunk_header, otf2::k_little_endian} {
    fixed(1);
    fixed(0);
  }
  void stamp(std::uint64_t ticks) {
    time_ += ticks;
    bytes_.push_back(otf2::mark::stamp);
    fixed(time_);
  }
  /// A record of compressed integers, with raw bytes before and behind them.
  void record(std::uint8_t type, std::initializer_list<unsigned> raw,
              std::initializer_list<std::uint64_t> integers,
              std::initializer_list<unsigned> tail = {}) {
    ++records_;
    bytes_.push_back(type);
    const std::size_t length = bytes_.size();
    if (!otf2::is_bare(type)) bytes_.push_back(0);
    for (const auto value : raw) bytes_.push_back(static_cast<std::uint8_t>(value));
    for (const auto value : integers) compressed(value);
    for (const auto value : tail) bytes_.push_back(static_cast<std::uint8_t>(value));
    if (!otf2::is_bare(type)) {
      bytes_[length] = static_cast<std::uint8_t>(bytes_.size() - length - 1);
    }
  }
  void flush(std::uint64_t ticks) {
    ++records_;
    bytes_.insert(bytes_.end(), {event::buffer_flush, 8});
    fixed(time_ + ticks);
  }
  [[nodiscard]] test::Bytes finish() {
    otf2::store_u64(bytes_.data() + otf2::k_chunk_header_size - 8, records_, false);
    bytes_.insert(bytes_.end(), {otf2::mark::end_of_file, otf2::mark::end_of_buffer});
    return bytes_;
  }

 private:
  void fixed(std::uint64_t value) {
    bytes_.resize(bytes_.size() + 8);
    otf2::store_u64(bytes_.data() + bytes_.size() - 8, value, false);
  }
  void compressed(std::uint64_t value) {
    std::array<std::uint8_t, 9> encoded{};
    const auto size =
        static_cast<std::ptrdiff_t>(otf2::store_compressed(encoded.data(), value, false));
    bytes_.insert(bytes_.end(), encoded.begin(), encoded.begin() + size);
  }

  test::Bytes bytes_;
  std::uint64_t time_ = 1000;
  std::uint64_t records_ = 0;
};

/// One instruction: where, when, what, and two numbers that mean what the record wants.
struct Instruction {
  unsigned place, delay, kind, a, b;
};
constexpr std::size_t k_instruction_size = 5;  ///< one byte per field

/// Requests of one location: every one is used once, and ended only after it began.
class Requests {
 public:
  explicit Requests(std::uint64_t first) : next_(first) {}
  std::uint64_t begin() {
    open_.push_back(next_);
    return next_++;
  }
  [[nodiscard]] bool any() const { return !open_.empty(); }
  std::uint64_t end(unsigned which) {
    const auto found = open_.begin() + static_cast<std::ptrdiff_t>(which % open_.size());
    const std::uint64_t id = *found;
    open_.erase(found);
    return id;
  }

 private:
  std::vector<std::uint64_t> open_;
  std::uint64_t next_;
};

/// Collectives, with the undefined root that most of them have.
void collective(Stream& stream, const Instruction& i, const std::uint64_t* request) {
  const std::uint64_t comm = i.a % k_comms, sent = i.b & 1u, received = i.b >> 1 & 1u;
  const std::uint64_t root = (i.b & 4u) != 0 ? 0xFFFFFFFFu : (i.b >> 3) % 4;
  const unsigned operation = (i.a >> 3) % 24;
  if (request != nullptr) {
    stream.record(event::nb_collective_complete, {operation},
                  {comm, root, sent, received, *request});
  } else {
    stream.record(event::mpi_collective_end, {operation}, {comm, root, sent, received});
  }
}

/// What a location has open.
struct Place {
  Stream stream;
  Requests sends{0}, receives{1'000'000}, collectives{2'000'000};
};

/// Non-blocking operations and cancellations; nothing for an end without a begin.
void write_request(Place& place, const Instruction& i) {
  Stream& stream = place.stream;
  const std::uint64_t peer = i.a % 4, comm = (i.a >> 2) % k_comms, tag = i.b % 4;
  const unsigned which = i.b >> 4;
  switch (i.kind % 32) {
    case 2:
      return stream.record(event::mpi_isend, {}, {peer, comm, tag, 8, place.sends.begin()});
    case 3:
      if (!place.receives.any()) return;
      return stream.record(event::mpi_irecv, {}, {peer, comm, tag, 8, place.receives.end(which)});
    case 4:
      return stream.record(event::mpi_irecv_request, {}, {place.receives.begin()});
    case 5: {
      Requests& requests = (i.b & 1u) != 0 ? place.sends : place.receives;
      if (!requests.any()) return;
      return stream.record(event::mpi_request_cancelled, {}, {requests.end(which)});
    }
    case 8:
      return stream.record(event::nb_collective_request, {}, {place.collectives.begin()});
    default: {
      if (!place.collectives.any()) return;
      const std::uint64_t request = place.collectives.end(which);
      return collective(stream, i, &request);
    }
  }
}

void write(Place& place, const Instruction& i) {
  Stream& stream = place.stream;
  const std::uint64_t peer = i.a % 4, comm = (i.a >> 2) % k_comms, tag = i.b % 4;
  switch (i.kind % 32) {
    case 0:
      return stream.record(event::mpi_send, {}, {peer, comm, tag, 8});
    case 1:
      return stream.record(event::mpi_recv, {}, {peer, comm, tag, 8});
    case 6:
      return stream.record(event::mpi_collective_begin, {}, {});
    case 7:
      return collective(stream, i, nullptr);
    case 2:
    case 3:
    case 4:
    case 5:
    case 8:
    case 9:
      return write_request(place, i);
    case 10:
      return stream.record(event::enter, {}, {i.a % k_regions});
    case 11:
      return stream.record(event::leave, {}, {i.a % k_regions});
    case 12:
      return stream.record(event::thread_fork, {3}, {2});
    case 13:
      return stream.record(event::thread_join, {3}, {});
    case 14:
      return stream.record(event::thread_team_begin, {}, {comm});
    case 15:
      return stream.record(event::thread_team_end, {}, {comm});
    case 16:
      return stream.record(event::thread_acquire_lock, {i.a % 8u}, {peer, i.b});
    case 17:
      return stream.record(event::thread_release_lock, {i.a % 8u}, {peer, i.b});
    case 18:
      return stream.record(event::thread_task_create, {}, {comm, peer, i.b % 8u});
    case 19:
      return stream.record(event::thread_task_switch, {}, {comm, peer, i.b % 8u});
    case 20:
      return stream.record(event::thread_create, {}, {comm, i.b % 4u});
    case 21:
      return stream.record(event::thread_begin, {}, {comm, i.b % 4u});
    case 22:
      return stream.record(event::thread_wait, {}, {comm, i.b % 4u});
    case 23:
      return stream.record(event::thread_end, {}, {comm, i.b % 4u});
    case 24:
      return stream.record(event::rma_collective_begin, {}, {});
    case 25:
      return stream.record(event::rma_collective_end, {i.a % 23u},
                           {i.b % 4u, i.b >> 2u & 1u, 0xFFFFFFFFu, i.b >> 4u & 1u, i.b >> 5u & 1u});
    case 26:
      return stream.record(event::rma_group_sync, {},
                           {i.a % 4u, i.b % k_windows, k_first_group + i.a % 10u});
    case 27:
      return stream.record(event::rma_sync, {}, {i.b % k_windows, i.a % 3u}, {i.a >> 2u & 3u});
    case 28:  // then nothing happens until it has ended
      stream.flush(i.a);
      return stream.stamp(i.a);
    case 29:
      return stream.record(event::rma_acquire_lock, {}, {i.b % k_windows, peer, 1}, {0});
    default:
      return stream.record(11, {1}, {});  // MeasurementOnOff: no communication
  }
}

/// Leaves out what no program does with its threads, and what therefore means nothing: a thread
/// created twice, a team that ends before one inside it, a region left that was not entered. The
/// second thread of a process makes no MPI calls: which of two threads received a message first is
/// told by their clocks alone, and a correction may change the answer.
class Discipline {
 public:
  bool allows(const Instruction& i) {
    Thread& thread = places_[i.place % k_locations.size()];
    const unsigned kind = i.kind % 32;
    const bool is_region = kind == 10 || kind == 11;
    const bool mpi = kind < 10 || (kind >= 24 && kind <= 27) ||
                     (is_region && i.a % k_regions >= k_init && i.a % k_regions != k_barrier);
    if (mpi && i.place % k_locations.size() == k_second_thread) return false;
    if (is_region) return allows_region(thread, i.a % k_regions, kind == 10);
    if (kind == 12 && i.place % k_locations.size() == k_second_thread) return false;
    if (kind >= 12 && kind <= 15) return !thread.in_barrier && allows_team(thread, i, kind);
    if (kind == 16 || kind == 17) return once({kind, i.a % 8, i.a % 4, i.b});
    if (kind == 18) return once({kind, (i.a >> 2) % k_comms, i.a % 4, i.b % 8});
    if (kind >= 20 && kind <= 23) return once({kind, (i.a >> 2) % k_comms, i.b % 4, 0});
    return true;
  }

  /// Regions that a location has not left, outermost first.
  [[nodiscard]] const std::vector<unsigned>& open_regions(std::size_t location) const {
    return places_[location].regions;
  }

 private:
  struct Team {
    unsigned comm;
    bool forked;
  };
  struct Thread {
    std::vector<Team> open;
    std::vector<unsigned> regions;  ///< entered and not left
    std::set<unsigned> once;        ///< MPI_Init and MPI_Finalize are entered once
    bool forked = false;            ///< the next team is that of a fork
    bool must_join = false;         ///< a team of a fork has ended
    bool in_barrier = false;
  };
  static constexpr std::size_t k_second_thread = 2;
  static constexpr unsigned k_init = 2, k_finalize = 3, k_barrier = 4;  ///< ids of regions

  static bool allows_region(Thread& thread, unsigned region, bool enter) {
    if (!enter) {
      if (thread.regions.empty() || thread.regions.back() != region) return false;
      thread.regions.pop_back();
      if (region == k_barrier) thread.in_barrier = false;
      return true;
    }
    const bool at_most_once = region == k_init || region == k_finalize;
    if (thread.in_barrier || (at_most_once && !thread.once.insert(region).second)) return false;
    thread.in_barrier = region == k_barrier;
    thread.regions.push_back(region);
    return true;
  }
  static bool allows_team(Thread& thread, const Instruction& i, unsigned kind) {
    const unsigned comm = (i.a >> 2) % k_comms;
    if (kind == 13) return std::exchange(thread.must_join, false);
    if (thread.must_join) return false;
    if (kind == 12) return !std::exchange(thread.forked, true);
    if (kind == 14) {
      thread.open.push_back({comm, std::exchange(thread.forked, false)});
      return true;
    }
    if (thread.forked || thread.open.empty() || thread.open.back().comm != comm) return false;
    thread.must_join = thread.open.back().forked;
    thread.open.pop_back();
    return true;
  }
  bool once(std::array<unsigned, 4> key) { return used_.insert(key).second; }

  std::array<Thread, k_locations.size()> places_;
  std::set<std::array<unsigned, 4>> used_;
};

void write_program(const Scratch& scratch, Input program) {
  Discipline discipline;
  std::array<Place, k_locations.size()> places;
  for (auto& place : places) place.stream.stamp(0);
  for (; program.size() >= k_instruction_size; program = program.subspan(k_instruction_size)) {
    const Instruction i{program[0], program[1], program[2], program[3], program[4]};
    Place& place = places[i.place % places.size()];
    if (!discipline.allows(i)) continue;
    // Small delays are the rule, equal stamps are worth a case of their own, and differences of
    // more ticks than a double holds are not what clocks of one run have.
    constexpr unsigned k_small = 200, k_largest_power = 44;
    if (i.delay > 0) {
      place.stream.stamp(
          i.delay < k_small ? i.delay : std::uint64_t{1} << (i.delay - k_small) % k_largest_power);
    }
    write(place, i);
  }
  for (std::size_t l = 0; l < places.size(); ++l) {
    std::vector<unsigned> open = discipline.open_regions(l);
    for (; !open.empty(); open.pop_back()) {
      places[l].stream.stamp(1);
      places[l].stream.record(event::leave, {}, {open.back()});
    }
    Scratch::write(scratch.event_file(k_locations[l]), places[l].stream.finish());
  }
}

void write_raw(const Scratch& scratch, Input input) {
  const auto cut = std::search(input.begin(), input.end(), k_cut, k_cut + sizeof k_cut - 1);
  const auto first = static_cast<std::size_t>(cut - input.begin());
  Scratch::write(scratch.event_file(k_locations[0]), input.first(first));
  const bool two = cut != input.end();
  Scratch::write(scratch.event_file(k_locations[1]),
                 two ? input.subspan(first + sizeof k_cut - 1) : input);
}

void correct(const Scratch& scratch, const CorrectOptions& options, bool sensible) {
  const auto report = entrain::correct(scratch.folder(), scratch.output(), options);
  if (!report) {
    expect_good_error(scratch, report.error().message);
    if (fs::exists(scratch.output())) finding("a failed correction left something");
  } else if (!report->verified) {
    finding("a correction was not verified");
  } else if (sensible && report->after.violations != 0) {
    finding(std::to_string(report->after.violations) + " violations after the correction");
  } else if (report->statistics.order_broken != 0) {
    finding("the correction broke the order of a location");
  }
  fs::remove_all(scratch.output());
}

}  // namespace

void correction(Input input, Compare) {
  static const Scratch scratch(false);
  if (input.empty()) return;
  if (input[0] == k_raw) {
    write_raw(scratch, input.subspan(1));
  } else {
    write_program(scratch, input.subspan(1));
  }
  CorrectOptions options;
  options.check.threads = 1;
  options.check.init_finalize = (input[0] & 1u) != 0;
  options.check.alltoallv = (input[0] & 2u) != 0 ? AlltoallvRule::dense : AlltoallvRule::ignore;
  if ((input[0] & 4u) != 0) options.check.mu.source = MuSource::one_tick;
  if (const auto report = entrain::check(scratch.folder(), options.check); !report) {
    expect_good_error(scratch, report.error().message);
  }
  for (const WriteMode mode : {WriteMode::rewrite, WriteMode::overlay}) {
    options.mode = mode;
    correct(scratch, options, input[0] != k_raw);
  }
}

Target target_of(const std::string& name) {
  if (name == "event_file") return event_file;
  if (name == "definitions") return definitions;
  if (name == "correction") return correction;
  return nullptr;
}

}  // namespace entrain::fuzz
