// SPDX-License-Identifier: BSD-3-Clause
// The target that corrects: reading, matching, amortization, writing and verification in a row.
#include <algorithm>
#include <array>
#include <vector>

#include <entrain/entrain.hpp>

#include "formats/otf2/format/format.hpp"
#include "fuzz/scratch.hpp"

namespace entrain::fuzz {

namespace fs = std::filesystem;
namespace event = otf2::event;

namespace {

// The archive that Scratch makes has processes with one location each, and definitions by id.
constexpr std::array<std::uint64_t, 3> k_locations{0, 7, (std::uint64_t{1} << 32) + 7};
constexpr std::size_t k_second_thread = 2;  ///< of the second process
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
  /// A record of compressed integers, with raw bytes before and after them.
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

/// Collectives, with the undefined root that most of them have.
void collective(Stream& stream, const Instruction& i, bool non_blocking) {
  const std::uint64_t comm = i.a % k_comms, sent = i.b & 1u, received = i.b >> 1 & 1u;
  const std::uint64_t root = (i.b & 4u) != 0 ? 0xFFFFFFFFu : (i.b >> 3) % 4;
  const unsigned operation = (i.a >> 3) % 24;
  if (non_blocking) {
    stream.record(event::nb_collective_complete, {operation},
                  {comm, root, sent, received, i.b >> 5 & 3u});
  } else {
    stream.record(event::mpi_collective_end, {operation}, {comm, root, sent, received});
  }
}

void write(Stream& stream, const Instruction& i) {
  const std::uint64_t peer = i.a % 4, comm = (i.a >> 2) % k_comms, tag = i.b % 4;
  const std::uint64_t request = i.b >> 4 & 3u;  // few, so that they are used again and again
  switch (i.kind % 32) {
    case 0:
      return stream.record(event::mpi_send, {}, {peer, comm, tag, 8});
    case 1:
      return stream.record(event::mpi_recv, {}, {peer, comm, tag, 8});
    case 2:
      return stream.record(event::mpi_isend, {}, {peer, comm, tag, 8, request});
    case 3:
      return stream.record(event::mpi_irecv, {}, {peer, comm, tag, 8, request});
    case 4:
      return stream.record(event::mpi_irecv_request, {}, {request});
    case 5:
      return stream.record(event::mpi_request_cancelled, {}, {request});
    case 6:
      return stream.record(event::mpi_collective_begin, {}, {});
    case 7:
      return collective(stream, i, false);
    case 8:
      return stream.record(event::nb_collective_request, {}, {i.b >> 5 & 3u});
    case 9:
      return collective(stream, i, true);
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

/// The properties that a correction of an input must have.
enum class Kind {
  raw,  ///< anything
  /// Two threads of a process call MPI: the order of their calls may be lost with a cycle that is
  /// cut, and where operations have no partner it decides which belong together.
  shared,
  certain,
};

/// True for calls of MPI.
bool is_mpi(unsigned kind) { return kind < 10 || (kind >= 24 && kind <= 27); }

Kind write_program(const Scratch& scratch, Input program) {
  Kind kind = Kind::certain;
  std::array<Stream, k_locations.size()> streams;
  for (Stream& stream : streams) stream.stamp(0);
  for (; program.size() >= k_instruction_size; program = program.subspan(k_instruction_size)) {
    const Instruction i{program[0], program[1], program[2], program[3], program[4]};
    Stream& stream = streams[i.place % streams.size()];
    if (is_mpi(i.kind % 32) && i.place % streams.size() == k_second_thread) kind = Kind::shared;
    // Small delays are the rule, equal stamps are worth a case of their own, and differences of
    // more ticks than a double holds are not what clocks of one run have.
    constexpr unsigned k_small = 200, k_largest_power = 44;
    if (i.delay > 0) {
      stream.stamp(i.delay < k_small ? i.delay
                                     : std::uint64_t{1} << (i.delay - k_small) % k_largest_power);
    }
    write(stream, i);
  }
  for (std::size_t l = 0; l < streams.size(); ++l) {
    Scratch::write(scratch.event_file(k_locations[l]), streams[l].finish());
  }
  return kind;
}

void write_raw(const Scratch& scratch, Input input) {
  const auto cut = std::search(input.begin(), input.end(), k_cut, k_cut + sizeof k_cut - 1);
  const auto first = static_cast<std::size_t>(cut - input.begin());
  Scratch::write(scratch.event_file(k_locations[0]), input.first(first));
  const bool two = cut != input.end();
  Scratch::write(scratch.event_file(k_locations[1]),
                 two ? input.subspan(first + sizeof k_cut - 1) : input);
}

bool is_order_known(const CorrectReport& report) {
  return count_of(report.cycles, "dropped_components") == 0 &&
         std::ranges::all_of(report.after.unmatched,
                             [](const auto& one) { return one.second == 0; });
}

void correct(const Scratch& scratch, const CorrectOptions& options, Kind kind) {
  const auto report = entrain::correct(scratch.folder(), scratch.output(), options);
  if (!report) {
    expect_good_error(scratch, report.error().message);
    if (fs::exists(scratch.output())) finding("a failed correction left something");
  } else if (!report->verified) {
    finding("a correction was not verified");
  } else if (report->after.violations != 0 &&
             (kind == Kind::certain || (kind == Kind::shared && is_order_known(*report)))) {
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
  Kind kind = Kind::raw;
  if (input[0] == k_raw) {
    write_raw(scratch, input.subspan(1));
  } else {
    kind = write_program(scratch, input.subspan(1));
  }
  CorrectOptions options;
  options.check.threads = 1;
  options.check.init_finalize = (input[0] & 1u) != 0;
  options.check.alltoallv = (input[0] & 2u) != 0 ? AlltoallvRule::dense : AlltoallvRule::ignore;
  if ((input[0] & 4u) != 0) options.check.mu.source = MuSource::one_tick;
  if (const auto report = entrain::check(scratch.folder(), options.check); !report) {
    expect_good_error(scratch, report.error().message);
  }
  if (const auto report = entrain::find_stragglers(scratch.folder(), options); !report) {
    expect_good_error(scratch, report.error().message);
  }
  for (const WriteMode mode : {WriteMode::rewrite, WriteMode::overlay}) {
    options.mode = mode;
    correct(scratch, options, kind);
  }
}

Target target_of(const std::string& name) {
  if (name == "event_file") return event_file;
  if (name == "definitions") return definitions;
  if (name == "correction") return correction;
  if (name == "edge_table") return edge_table;
  if (name == "mapped_table") return mapped_table;
  if (name == "packed_text") return packed_text;
  if (name == "vt_config") return vt_config;
  if (name == "training_run") return training_run;
  if (name == "perfetto_run") return perfetto_run;
  if (name == "spans") return spans;
  if (name == "paraver_trace") return paraver_trace;
  if (name == "ctf_traces") return ctf_traces;
  if (name == "part_files") return part_files;
  if (name == "net_json") return net_json;
  if (name == "net_dot") return net_dot;
  if (name == "net_parameters") return net_parameters;
  if (name == "net_schedule") return net_schedule;
  return nullptr;
}

}  // namespace entrain::fuzz
