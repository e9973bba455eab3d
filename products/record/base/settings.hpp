// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace entrain::record {

/// A choice that the user may leave to the recorder.
enum class Choice { automatic, yes, no };

/// The clock that stamps the events.
enum class TimerKind { monotonic_raw, tsc, monotonic, realtime };

/// How clock sessions measure the clocks. Names and meanings follow clock synchronisation in the
/// Intel Trace Collector, where it has them.
struct SyncSettings {
  bool enabled = true;
  std::uint64_t max_messages = 100;        ///< exchanges per child and session, 1 to 1e6
  double max_duration_s = 60;              ///< seconds in which a parent may begin exchanges, 0 to
                                           ///< 1e6
  double dropped_share = 0.1;              ///< share of exchanges left aside: the slowest ones
  std::uint64_t fanout = 8;                ///< children of a process in ClockTree, 1 to 1e6
  double period_s = 0;                     ///< seconds between periodic sessions; 0: there are none
  std::uint64_t every = 100;               ///< most collective calls between two decisions (Period)
  double budget_percent = 1;               ///< share of the run for periodic sessions (Period),
                                           ///< percent; 0 to 100
  Choice synced_host = Choice::automatic;  ///< processes of a host share one clock
  Choice synced_cluster = Choice::no;      ///< all processes share one: no sessions
};

/// For tests: the processes are spread over virtual nodes, each with a wrong clock of its own. Off
/// if `nodes` is 0.
struct VirtualCluster {
  std::uint64_t nodes = 0;  ///< blocks of consecutive ranks share one
  std::uint64_t seed = 1;
  double offset_s = 0.005;          ///< offsets are uniform between minus and plus this
  double drift_ppm = 20;            ///< the same for constant errors of the rate
  double wander_ppm = 0;            ///< amplitude of a sinusoidal change of the rate
  double wander_period_s = 60;      ///< its period; the phase is random
  std::uint64_t resolution_ns = 1;  ///< clocks advance in steps of this
};

/// The settings of a recording, from variables of the environment.
struct Settings {
  std::string directory;                  ///< ENTRAIN_RECORD_DIR; "": no recording
  std::uint64_t buffer_bytes = 16 << 20;  ///< events of one location kept in memory
  std::uint64_t most_bytes = 0;           ///< events of one process; 0: no limit
  std::uint64_t most_locations = 0;       ///< recorded threads of one process; 0: no limit
  TimerKind timer = TimerKind::monotonic_raw;
  bool clocks_only = false;  ///< no events; another tracer records them
  bool launched = false;     ///< `entrain record` waits for the program and reports its end
  SyncSettings sync;
  VirtualCluster virtual_cluster;
};

/// The variables ENTRAIN_* of this process, and those that is_vt_variable knows, as NAME=VALUE,
/// each followed by a null: a text to send to other processes. The folder in it is an absolute
/// path.
std::string own_variables();

/// Reads ENTRAIN_RECORD_*, ENTRAIN_SYNC* and ENTRAIN_VIRTUAL_* from the text of own_variables. A
/// bad value adds a clause with its origin and range to `problem`, with a 0 byte between two, and
/// the default stays.
Settings read_settings(const std::string& variables, std::string& problem);

}  // namespace entrain::record
