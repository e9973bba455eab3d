// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace entrain::record {

/// A choice that may be left to the recorder.
enum class Choice { automatic, yes, no };

/// Which clock stamps the events.
enum class TimerKind { monotonic_raw, tsc };

/// How the clocks are measured; names and meanings follow clock synchronisation in the Intel Trace
/// Collector, where it has them.
struct SyncSettings {
  bool enabled = true;
  std::uint64_t max_messages = 100;  ///< exchanges per child and session, 1 to 1e6
  double max_duration_s = 60;        ///< of one parent's part of a session, 0 to 1e6
  double dropped_share = 0.1;        ///< exchanges left aside, those with the longest round trip
  std::uint64_t fanout = 8;          ///< children of a process in the tree, 1 to 1e6
  double period_s = 0;        ///< from one session to the next that nobody asked for; 0: none
  std::uint64_t every = 100;  ///< collective calls from one word on that to the next, at most
  Choice synced_host = Choice::automatic;  ///< processes of a node share one clock
  bool synced_cluster = false;             ///< all processes do: nothing is measured
};

/// Test hook: every virtual node gets a clock of its own. Off while `nodes` is 0.
struct VirtualCluster {
  std::uint64_t nodes = 0;  ///< processes are dealt out to them in blocks
  std::uint64_t seed = 1;
  double offset_s = 0.005;          ///< offsets are uniform between minus and plus this
  double drift_ppm = 20;            ///< constant errors of the rate, likewise
  double wander_ppm = 0;            ///< amplitude of a sinusoidal change of the rate
  double wander_period_s = 60;      ///< its period; the phase is random
  std::uint64_t resolution_ns = 1;  ///< clocks advance in steps of this
};

/// What the environment asks for.
struct Settings {
  std::string directory;                  ///< ENTRAIN_RECORD_DIR; "" means nothing is recorded
  std::uint64_t buffer_bytes = 16 << 20;  ///< memory for events, per location
  std::uint64_t most_bytes = 0;           ///< of events, per process; 0: no limit
  std::uint64_t most_locations = 0;       ///< threads that are recorded, per process; 0: no limit
  TimerKind timer = TimerKind::monotonic_raw;
  bool launched = false;  ///< `entrain record` waits for the program and speaks at its end
  SyncSettings sync;
  VirtualCluster virtual_cluster;
};

/// The variables ENTRAIN_* of this process as NAME=VALUE, each with a null behind it, for the way
/// to the other processes. The folder in it is an absolute path.
std::string own_variables();

/// Reads ENTRAIN_RECORD_*, ENTRAIN_SYNC_* and ENTRAIN_VIRTUAL_* out of what own_variables gave. Of
/// every bad value `problem` gets a sentence that names variable and range; the default stays.
Settings read_settings(const std::string& variables, std::string& problem);

}  // namespace entrain::record
