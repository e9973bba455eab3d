// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace entrain {

/// Communication pattern of a synthetic trace.
enum class SynthPattern : std::uint8_t {
  ring,           ///< every process exchanges messages with its two neighbours
  stencil2d,      ///< halo exchange on a grid of processes, collectives on its rows and columns
  allreduce,      ///< compute, then combine among all
  master_worker,  ///< one process hands out tasks to whoever is done first
  mixed,          ///< all of these kinds of operations, non-blocking collectives too
  pipeline,       ///< every process passes items on to the next one; nothing comes back
};
inline constexpr std::size_t k_synth_patterns = 6;
/// Name used in options and JSON, e.g. "master-worker".
const char* name_of(SynthPattern pattern);

/// Content and format of a synthetic trace.
enum class SynthFormat : std::uint8_t {
  otf2,    ///< a message-passing program, as an archive
  chrome,  ///< a training loop, as the PyTorch profiler writes it: a file rankN.json per rank
  otlp,    ///< spans of services, lines of OTLP JSON: a file hostN.jsonl per host, as its agent
           ///< would write it
};
inline constexpr std::size_t k_synth_formats = 3;
/// Name used in options and JSON, e.g. "chrome".
const char* name_of(SynthFormat format);

/// Options of synth(). Ticks of the trace are nanoseconds. Members that a format does not use must
/// have their defaults (ErrorKind::usage): only otf2 uses `pattern`, and otlp uses only locations,
/// events and seed.
struct SynthOptions {
  SynthFormat format = SynthFormat::otf2;
  SynthPattern pattern = SynthPattern::ring;
  /// Processes, one location each; 1 to k_most_synth_locations. Ranks or hosts: 2 to
  /// k_most_synth_files.
  std::uint64_t locations = 8;
  /// Records in all event files together, exact to within one. Errors: ErrorKind::usage if they are
  /// fewer than the pattern needs for one iteration, or more than k_most_synth_events, or than
  /// k_most_synth_events_per_file per rank or host. Spans have two each.
  std::uint64_t events = 1'000'000;
  /// Seed of the random numbers. The same options and seed give the same archive, byte for byte.
  std::uint64_t seed = 1;
  /// Share of the events that take part in communication, 0.0001 to 1; the others are Enter and
  /// Leave. As every MPI call has its own Enter and Leave, no pattern gets beyond 0.3 to 0.35; a
  /// short trace stays below it, as it has whole iterations only.
  double communication_share = 0.1;
  /// Least time from the send of a message (begin of a collective) to its receive (end), seconds,
  /// 1e-9 to 1.
  double latency_s = 1e-6;
  /// Mean of the exponentially distributed delay that is added to it, seconds, 0 to 1.
  double tail_s = 0.3e-6;
  /// Latency and tail of messages to a process with a lower number, for a network that is slower
  /// one way than the other; empty: no difference. Collectives use the two above.
  std::optional<double> back_latency_s, back_tail_s;
  /// Time that a process computes per iteration (or task) on average, seconds, 1e-7 to 1000. More
  /// if the functions of an iteration need more: a call takes 16 ns at least.
  double iteration_s = 1e-3;
  /// Variation of compute times between processes and from time to time, as a fraction of their
  /// mean, 0 to 1.
  double imbalance = 0.2;
  /// Processes on one node of the machine, 1 to k_most_synth_locations.
  std::uint64_t locations_per_node = 8;
  /// Devices of a rank, 1 to k_most_synth_devices; of chrome only. The first one communicates, the
  /// others compute. With several, the rank waits for each of them at the end of each step.
  std::uint64_t devices = 1;
  /// A rank that begins each step this much later than the others would, seconds, 0 to 1000; of
  /// chrome only. The others wait for it.
  std::uint64_t straggler = 0;
  double straggler_s = 0;
  bool force = false;    ///< replace an unchanged earlier result
  unsigned threads = 0;  ///< worker threads; 0: all cores. The result does not depend on it.
};
/// Limits of SynthOptions: locations and events of an archive, files of JSON and events in one.
inline constexpr std::uint64_t k_most_synth_locations = 1'000'000;
inline constexpr std::uint64_t k_most_synth_events = 100'000'000'000'000;
inline constexpr std::uint64_t k_most_synth_files = 1'024;
inline constexpr std::uint64_t k_most_synth_devices = 16;
inline constexpr std::uint64_t k_most_synth_events_per_file = 100'000'000;

/// Result of synth().
struct SynthReport {
  SynthFormat format = SynthFormat::otf2;
  std::string archive;  ///< path of the anchor file, or of the folder
  SynthPattern pattern = SynthPattern::ring;
  std::uint64_t seed = 0;
  std::uint64_t locations = 0;
  std::uint64_t iterations = 0;  ///< steps of the training loop; requests of services
  std::uint64_t events = 0;
  std::uint64_t communication_events = 0;  ///< see ArchiveInfo::communication_events
  std::uint64_t messages = 0;              ///< pairs of send and receive; calls of services
  std::uint64_t collectives = 0;           ///< operations, not calls of a process
  std::uint64_t event_bytes = 0;           ///< size of all event files
  double span_s = 0;                       ///< time between the first and the last event
  double seconds = 0;                      ///< wall-clock duration of the generation
  /// Folders that killed runs had left near the output and that were removed.
  std::uint64_t leftovers_removed = 0;
};

}  // namespace entrain
